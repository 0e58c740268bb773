#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sp::arch {

/// What a register or a piece of memory holds, as far as it is known: a linear expression, which is
/// a constant plus up to two terms, modulo 2^64.
struct SymbolicValue {
  /// A symbol and its coefficient.
  struct Term {
    std::uint32_t symbol = 0;  // 0: none
    std::uint64_t factor = 0;
    bool operator==(const Term&) const = default;
  };
  std::uint64_t constant = 0;
  std::array<Term, 2> terms = {};  // by symbol, empty ones last

  bool operator==(const SymbolicValue&) const = default;
  [[nodiscard]] bool is_constant() const { return terms[0].symbol == 0; }
  /// A symbol alone, without constant and coefficient.
  [[nodiscard]] bool is_symbol() const {
    return constant == 0 && terms[0].factor == 1 && terms[1].symbol == 0;
  }
};

/// The symbols of one path, the expressions over them, and the upper bounds that are known of both.
class SymbolicExpressions {
 public:
  static constexpr std::size_t kRegisters = 32;

  enum class Kind : std::uint8_t {
    none,
    initial,    // what a register held at the beginning of the path
    opaque,     // a result that is not modelled
    extension,  // some low bytes of a value, widened
    load,
  };
  struct Symbol {
    Kind kind = Kind::none;
    unsigned width = 8;  // bytes, of extension and load
    bool is_signed = false;
    SymbolicValue of;          // what is extended; the address that is loaded from
    std::uint32_t memory = 0;  // the version of memory that was loaded from
    std::optional<std::uint64_t> most;
    bool is_checked = false;  // `most` is from a comparison
  };
  /// An upper bound of an expression that is more than a symbol.
  struct Bound {
    SymbolicValue value;
    std::uint64_t most = 0;
  };

  SymbolicExpressions();

  [[nodiscard]] static SymbolicValue constant(std::uint64_t value) { return {value, {}}; }
  /// What the register held at the beginning of the path.
  [[nodiscard]] static SymbolicValue initial(unsigned reg) {
    return {0, {SymbolicValue::Term{reg + 1, 1}, {}}};
  }
  /// A new symbol, which is `most` at most.
  [[nodiscard]] SymbolicValue unknown(std::optional<std::uint64_t> most = std::nullopt);
  [[nodiscard]] SymbolicValue add(const SymbolicValue& a, const SymbolicValue& b);
  [[nodiscard]] SymbolicValue multiply(const SymbolicValue& a, std::uint64_t factor);
  [[nodiscard]] SymbolicValue subtract(const SymbolicValue& a, const SymbolicValue& b) {
    return add(a, multiply(b, ~std::uint64_t{0}));
  }
  /// The low `width` bytes, zero-extended or sign-extended to 8.
  [[nodiscard]] SymbolicValue extend(const SymbolicValue& value, unsigned width, bool is_signed);
  /// What a load gives; the same for the same address and version of memory.
  [[nodiscard]] SymbolicValue loaded(const SymbolicValue& from, unsigned width, bool is_signed,
                                     std::uint32_t memory);

  /// The largest number that the value can be, unsigned.
  [[nodiscard]] std::optional<std::uint64_t> most(const SymbolicValue& value) const;
  /// The same of a symbol; ~0 where it is unbounded.
  [[nodiscard]] std::uint64_t most_of(const Symbol& symbol) const;
  /// A comparison showed that the value is `most` at most.
  void bound(const SymbolicValue& value, std::uint64_t most);

  [[nodiscard]] const Symbol& symbol_of(const SymbolicValue::Term& term) const {
    return symbols_[term.symbol];
  }
  [[nodiscard]] const std::vector<Bound>& bounds() const { return bounds_; }
  /// The register whose initial value the term is.
  [[nodiscard]] std::optional<unsigned> initial_register(const SymbolicValue::Term& term) const;

 private:
  [[nodiscard]] SymbolicValue add_symbol(const Symbol& symbol);
  /// The symbol of that kind, width, version and operand, which is added where there is none.
  [[nodiscard]] SymbolicValue find_or_add(const Symbol& wanted);

  std::vector<Symbol> symbols_;  // [0] is none, then the registers' initial values
  std::vector<Bound> bounds_;
};

}  // namespace sp::arch
