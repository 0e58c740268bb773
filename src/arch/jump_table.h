#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/address.h"

namespace sp::arch {

/// Where an indirect jump takes its destination from: the entry of a switch's table.
struct JumpTable {
  core::Address first;          // of the entries
  std::uint64_t entries = 0;    // from the check before the jump, never a guess
  std::uint8_t entry_size = 8;  // bytes
  bool is_signed = false;       // entries are widened with their sign
  std::uint8_t shift = 0;       // by which an entry is multiplied
  core::Address base;           // what is added to it; 0 where entries are addresses

  bool operator==(const JumpTable&) const = default;

  [[nodiscard]] core::Address destination(std::uint64_t entry) const {
    return base + (entry << shift);
  }
};

/// An instruction on the way to a jump.
struct PathInstruction {
  core::Address address;
  std::span<const std::byte> bytes;  // of it, and maybe more
};

/// A register's number in instructions, and what it holds at the beginning of a path.
using KnownRegister = std::pair<unsigned, std::uint64_t>;

/// What a path says of the jump at its end.
struct JumpOnPath {
  std::optional<JumpTable> table;
  /// The number of entries is from a comparison; else from what the index can be at all (a byte, a
  /// masked number), so that a comparison further up may tell less.
  bool is_checked = false;
  /// What else must be known for it: what this register holds at the path's beginning.
  std::optional<unsigned> wanted;
};

/// What an instruction does to a register.
struct RegisterEffect {
  bool changes = false;
  std::optional<std::uint64_t> constant;  // always leaves this in it
  std::optional<unsigned> added_to;       // with what this register held before added
};

}  // namespace sp::arch
