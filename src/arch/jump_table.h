#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/address.h"

namespace sp::arch {

/// A switch's jump table, whose entries are the destinations of an indirect jump.
struct JumpTable {
  core::Address first;          // of the entries
  std::uint64_t entries = 0;    // from the bounds check before the jump, never a guess
  std::uint8_t entry_size = 8;  // bytes
  bool is_signed = false;       // entries are sign-extended
  std::uint8_t shift = 0;       // entries are shifted left by this
  core::Address base;           // and added to this; 0 if entries are addresses

  bool operator==(const JumpTable&) const = default;
  /// Entries are distances from the table, as compilers make them for position-independent code.
  [[nodiscard]] bool is_relative_to_itself() const { return base == first && shift == 0; }

  [[nodiscard]] core::Address destination(std::uint64_t entry) const {
    return base + (entry << shift);
  }
};

/// An instruction on a path to an indirect jump.
struct PathInstruction {
  core::Address address;
  std::span<const std::byte> bytes;  // the instruction's, maybe more
};

/// A register's number in instructions, and its value at the beginning of a path.
using KnownRegister = std::pair<unsigned, std::uint64_t>;

/// What a path shows about the jump at its end.
struct JumpOnPath {
  std::optional<JumpTable> table;
  /// The same table, if it is one of distances from itself, as its address alone shows it: without
  /// `entries`.
  std::optional<JumpTable> unbounded;
  /// The number of entries is from a comparison. Otherwise it is from the index's type (a byte, a
  /// masked number), and a comparison earlier on the path may give a smaller one.
  bool is_checked = false;
  /// The table's address depends on this register's value at the path's beginning.
  std::optional<unsigned> wanted;
};

/// An instruction's operand in memory at base + displacement + scale * index.
struct IndexedOperand {
  std::optional<unsigned> base;    // a register's number in instructions
  std::uint64_t displacement = 0;  // sign-extended
  unsigned scale = 1;
};

/// What an instruction does to a register.
struct RegisterEffect {
  bool changes = false;
  std::optional<std::uint64_t> constant;  // the new value
  std::optional<unsigned> added_to;       // plus what this register held before
};

}  // namespace sp::arch
