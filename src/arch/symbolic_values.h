#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/jump_table.h"
#include "core/address.h"

namespace sp::arch {

/// What a register or a piece of memory holds, as far as it is known: a constant plus up to two
/// symbols, each times a factor, modulo 2^64.
struct SymbolicValue {
  struct Term {
    std::uint32_t symbol = 0;  // 0: none
    std::uint64_t factor = 0;
    bool operator==(const Term&) const = default;
  };
  std::uint64_t constant = 0;
  std::array<Term, 2> terms = {};  // by symbol, those that are none last

  bool operator==(const SymbolicValue&) const = default;
  [[nodiscard]] bool is_constant() const { return terms[0].symbol == 0; }
  /// A symbol alone, without constant and factor.
  [[nodiscard]] bool is_symbol() const {
    return constant == 0 && terms[0].factor == 1 && terms[1].symbol == 0;
  }
};

/// How a conditional branch looks at a comparison of a and b.
enum class Relation : std::uint8_t {
  above,  // a > b, unsigned
  above_or_equal,
  below,
  below_or_equal,
  greater,  // signed
  greater_or_equal,
  less,
  less_or_equal,
  equal,
  not_equal,
  other,
};
[[nodiscard]] Relation opposite(Relation relation);

/// Follows the registers along one path through straight code, from its beginning on: enough to
/// recognise how a compiler reads a switch's table, and what it checked before. What an
/// instruction does is the CPU's term; here is what values are.
class SymbolicValues {
 public:
  static constexpr std::size_t kRegisters = 32;

  SymbolicValues();

  [[nodiscard]] static SymbolicValue constant(std::uint64_t value) { return {value, {}}; }
  [[nodiscard]] const SymbolicValue& get(unsigned reg) const { return registers_[reg]; }
  void set(unsigned reg, const SymbolicValue& value) { registers_[reg] = value; }
  void forget(unsigned reg) { registers_[reg] = unknown(); }
  /// The register still holds what it held at the path's beginning.
  [[nodiscard]] bool is_untouched(unsigned reg) const;
  /// What the path does to a register.
  [[nodiscard]] RegisterEffect effect_on(unsigned reg) const;

  [[nodiscard]] SymbolicValue unknown(std::optional<std::uint64_t> most = std::nullopt);
  [[nodiscard]] SymbolicValue add(const SymbolicValue& a, const SymbolicValue& b);
  [[nodiscard]] SymbolicValue multiply(const SymbolicValue& a, std::uint64_t factor);
  [[nodiscard]] SymbolicValue subtract(const SymbolicValue& a, const SymbolicValue& b) {
    return add(a, multiply(b, ~std::uint64_t{0}));
  }
  /// The lowest `width` bytes, widened to 8 with zeros or with their sign.
  [[nodiscard]] SymbolicValue extend(const SymbolicValue& value, unsigned width, bool is_signed);
  /// The largest number that the value can be, unsigned.
  [[nodiscard]] std::optional<std::uint64_t> most(const SymbolicValue& value) const;

  [[nodiscard]] SymbolicValue load(const SymbolicValue& from, unsigned width, bool is_signed);
  void store(const SymbolicValue& to, unsigned width, const SymbolicValue& value);
  void forget_memory();

  /// The flags are those of a - b, both widened with zeros.
  void compare(const SymbolicValue& a, const SymbolicValue& b, unsigned width);
  void forget_flags() { flags_.reset(); }
  /// Along the path `relation` held between what was compared last.
  void assume(Relation relation);
  /// The same for one value only.
  [[nodiscard]] std::optional<std::uint64_t> most_if(Relation relation, const SymbolicValue& value);

  /// What a jump to `destination` says.
  [[nodiscard]] JumpOnPath jump_to(const SymbolicValue& destination) const;

 private:
  enum class Kind : std::uint8_t { none, initial, opaque, extension, load };
  struct Symbol {
    Kind kind = Kind::none;
    unsigned width = 8;  // bytes, of extension and load
    bool is_signed = false;
    SymbolicValue of;              // what is extended; the address that is loaded from
    std::uint32_t memory = 0;  // which of memory's states was loaded from
    std::optional<std::uint64_t> most;
    bool is_checked = false;
  };
  struct Flags {
    SymbolicValue a;
    SymbolicValue b;
    unsigned width = 8;
    bool unequal = false;
  };
  /// Of what is not a symbol alone.
  struct Bound {
    SymbolicValue value;
    std::uint64_t most = 0;
  };
  struct Stored {
    SymbolicValue at;
    unsigned width = 0;
    SymbolicValue value;
  };

  [[nodiscard]] SymbolicValue symbol(const Symbol& symbol);
  void bound(const SymbolicValue& value, std::uint64_t most);
  [[nodiscard]] std::optional<std::uint64_t> limit_of(Relation relation,
                                                      const SymbolicValue& value) const;
  [[nodiscard]] std::uint64_t most_of(const Symbol& symbol) const;
  [[nodiscard]] std::optional<unsigned> initial_register(SymbolicValue::Term term) const;
  [[nodiscard]] JumpOnPath table_of(const Symbol& entry, std::uint64_t factor,
                                    std::uint64_t base) const;
  [[nodiscard]] JumpOnPath bounded(JumpTable table, SymbolicValue::Term index) const;

  std::vector<Symbol> symbols_;
  std::array<SymbolicValue, kRegisters> registers_;
  std::vector<Bound> bounds_;
  std::vector<Stored> stored_;
  std::optional<Flags> flags_;
  std::uint32_t memory_ = 0;
};

}  // namespace sp::arch
