#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/flag_use.h"
#include "arch/x86_64/encoding.h"

namespace sp::arch::x86_64 {

/// What an instruction does to the six arithmetic flags, as bits of eflags (flags.h).
struct FlagEffects {
  std::uint64_t reads = 0;  // its effect may depend on them
  /// It overwrites them, whatever its operands are. Flags that the manuals leave undefined count:
  /// no program can need their old value. Those of shifts by cl and of string instructions with a
  /// repeat prefix do not: a count of zero leaves them.
  std::uint64_t kills = 0;

  bool operator==(const FlagEffects&) const = default;
};

/// For an instruction that is not known: reads all, kills none. A system call does neither: the
/// kernel restores them.
[[nodiscard]] FlagEffects flag_effects(const Encoding& encoding);

/// The same in short, of the instruction that `bytes` begin with.
[[nodiscard]] FlagUse flag_use(std::span<const std::byte> bytes);

}  // namespace sp::arch::x86_64
