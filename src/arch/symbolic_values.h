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
/// terms, each times a factor, modulo 2^64.
struct PathValue {
  struct Part {
    std::uint32_t term = 0;  // 0: none
    std::uint64_t factor = 0;
    bool operator==(const Part&) const = default;
  };
  std::uint64_t constant = 0;
  std::array<Part, 2> parts = {};  // by term, those that are none last

  bool operator==(const PathValue&) const = default;
  [[nodiscard]] bool is_constant() const { return parts[0].term == 0; }
  /// A term alone, without constant and factor.
  [[nodiscard]] bool is_term() const {
    return constant == 0 && parts[0].factor == 1 && parts[1].term == 0;
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
/// instruction does is the CPU's part; here is what values are.
class PathValues {
 public:
  static constexpr std::size_t kRegisters = 32;

  PathValues();

  [[nodiscard]] static PathValue constant(std::uint64_t value) { return {value, {}}; }
  [[nodiscard]] const PathValue& get(unsigned reg) const { return registers_[reg]; }
  void set(unsigned reg, const PathValue& value) { registers_[reg] = value; }
  void forget(unsigned reg) { registers_[reg] = unknown(); }
  /// The register still holds what it held at the path's beginning.
  [[nodiscard]] bool is_untouched(unsigned reg) const;
  /// What the path does to a register.
  [[nodiscard]] RegisterEffect effect_on(unsigned reg) const;

  [[nodiscard]] PathValue unknown(std::optional<std::uint64_t> most = std::nullopt);
  [[nodiscard]] PathValue add(const PathValue& a, const PathValue& b);
  [[nodiscard]] PathValue multiply(const PathValue& a, std::uint64_t factor);
  [[nodiscard]] PathValue subtract(const PathValue& a, const PathValue& b) {
    return add(a, multiply(b, ~std::uint64_t{0}));
  }
  /// The lowest `width` bytes, widened to 8 with zeros or with their sign.
  [[nodiscard]] PathValue extend(const PathValue& value, unsigned width, bool is_signed);
  /// The largest number that the value can be, unsigned.
  [[nodiscard]] std::optional<std::uint64_t> most(const PathValue& value) const;

  [[nodiscard]] PathValue load(const PathValue& from, unsigned width, bool is_signed);
  void store(const PathValue& to, unsigned width, const PathValue& value);
  void forget_memory();

  /// The flags are those of a - b, both widened with zeros.
  void compare(const PathValue& a, const PathValue& b, unsigned width);
  void forget_flags() { flags_.reset(); }
  /// Along the path `relation` held between what was compared last.
  void assume(Relation relation);
  /// The same for one value only.
  [[nodiscard]] std::optional<std::uint64_t> most_if(Relation relation, const PathValue& value);

  /// What a jump to `destination` says.
  [[nodiscard]] JumpOnPath jump_to(const PathValue& destination) const;

 private:
  enum class Kind : std::uint8_t { none, initial, opaque, extension, load };
  struct Term {
    Kind kind = Kind::none;
    unsigned width = 8;  // bytes, of extension and load
    bool is_signed = false;
    PathValue of;              // what is extended; the address that is loaded from
    std::uint32_t memory = 0;  // which of memory's states was loaded from
    std::optional<std::uint64_t> most;
    bool is_checked = false;
  };
  struct Flags {
    PathValue a;
    PathValue b;
    unsigned width = 8;
    bool unequal = false;
  };
  /// Of what is not a term alone.
  struct Bound {
    PathValue value;
    std::uint64_t most = 0;
  };
  struct Stored {
    PathValue at;
    unsigned width = 0;
    PathValue value;
  };

  [[nodiscard]] PathValue term(const Term& term);
  void bound(const PathValue& value, std::uint64_t most);
  [[nodiscard]] std::optional<std::uint64_t> limit_of(Relation relation,
                                                      const PathValue& value) const;
  [[nodiscard]] std::uint64_t most_of(const Term& term) const;
  [[nodiscard]] std::optional<unsigned> initial_register(PathValue::Part part) const;
  [[nodiscard]] JumpOnPath table_of(const Term& entry, std::uint64_t factor,
                                    std::uint64_t base) const;
  [[nodiscard]] JumpOnPath bounded(JumpTable table, PathValue::Part index) const;

  std::vector<Term> terms_;
  std::array<PathValue, kRegisters> registers_;
  std::vector<Bound> bounds_;
  std::vector<Stored> stored_;
  std::optional<Flags> flags_;
  std::uint32_t memory_ = 0;
};

}  // namespace sp::arch
