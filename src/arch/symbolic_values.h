#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/jump_table.h"
#include "arch/relation.h"
#include "arch/symbolic_expressions.h"

namespace sp::arch {

/// The machine's state in a symbolic execution along one path through straight-line code:
/// registers, memory and flags, in terms of the registers' initial values. Models enough to
/// recognise how a compiler reads a switch's table and what it checked before. Each CPU's
/// symbolic_step.h says what instructions do to it.
class SymbolicValues : public SymbolicExpressions {
 public:
  SymbolicValues();

  [[nodiscard]] const SymbolicValue& get(unsigned reg) const { return registers_[reg]; }
  void set(unsigned reg, const SymbolicValue& value) { registers_[reg] = value; }
  void forget(unsigned reg) { registers_[reg] = unknown(); }
  /// What the path does to a register.
  [[nodiscard]] RegisterEffect effect_on(unsigned reg) const;

  [[nodiscard]] SymbolicValue load(const SymbolicValue& from, unsigned width, bool is_signed);
  void store(const SymbolicValue& to, unsigned width, const SymbolicValue& value);
  void forget_memory();

  /// Sets the flags to those of a - b, both zero-extended from `width` bytes.
  void compare(const SymbolicValue& a, const SymbolicValue& b, unsigned width);
  void forget_flags() { flags_.reset(); }
  /// Along the path `relation` held between the operands of the last comparison.
  void assume(Relation relation);
  /// The upper bound of a value where `relation` holds.
  [[nodiscard]] std::optional<std::uint64_t> most_if(Relation relation, const SymbolicValue& value);

 private:
  struct Flags {
    SymbolicValue a;
    SymbolicValue b;
    unsigned width = 8;
    bool unequal = false;
  };
  struct Stored {
    SymbolicValue at;
    unsigned width = 0;
    SymbolicValue value;
  };

  [[nodiscard]] std::optional<std::uint64_t> limit_of(Relation relation,
                                                      const SymbolicValue& value) const;

  std::array<SymbolicValue, kRegisters> registers_;
  std::vector<Stored> stored_;
  std::optional<Flags> flags_;
  std::uint32_t memory_ = 0;  // its version: stores to unknown places make a new one
};

}  // namespace sp::arch
