#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arch/counter_choice.h"
#include "core/address.h"
#include "core/control_flow_graph.h"

namespace sp::rewriter {

using arch::LiveBefore;

/// What code outside of a function reads of the flags that are set when control comes to it by a
/// direct call or jump.
struct FlagsReadAt {
  core::Address at;
  std::uint64_t flags = 0;
  /// Control comes back to there, in the function, which may read more.
  std::optional<core::Address> then{};
};

/// The flags and general registers that are live in front of each instruction of a function of
/// code, by backward data flow over its blocks. What is not live may be changed there.
///
/// Flags (x86-64; no counting code changes those of AArch64): dead at calls and returns, as every
/// ABI in use has it. (psABI AMD64, section 3.2.1: they are not preserved across calls; GCC's
/// -fipa-ra keeps to that for flags, too.) LLVM's machine outliner makes functions that return
/// them: `returns_flags`. Live at jumps and branches out of the function, for these may lead to a
/// cold part of it, and at indirect jumps that are not resolved. System calls keep them.
///
/// Registers: no ABI is assumed. Code may rely on a register that its callee is not known to change
/// (-fipa-ra, preserve_most, TLS descriptors) and may pass and return values in any (Go, Swift,
/// OCaml, hand-written code), so that all are live at calls, returns and all other exits. Dead is
/// what the function's own code overwrites first. The stack pointer is always live.
class LiveState {
 public:
  /// `code` are the original bytes of `bounds`. `outside`, sorted by address, tells of calls' and
  /// jumps' destinations what is read there; of others the above is assumed.
  [[nodiscard]] static LiveState of(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                                    std::span<const std::byte> code,
                                    std::span<const FlagsReadAt> outside = {},
                                    bool returns_flags = false);

  /// Of an instruction that a block of the graph holds; everything is live elsewhere.
  [[nodiscard]] LiveBefore before(core::Address instruction) const;

  /// The function's start, and the return sites of calls by pointer, at which the code reads flags
  /// that its caller or a callee has set: nobody knows whose copies must not change them. (Behind a
  /// direct call it is known, see core::CodeReferences::flag_returners, or control never comes
  /// there: most such callees do not return.) Sorted.
  [[nodiscard]] const std::vector<core::Address>& flags_across_calls() const {
    return flags_across_calls_;
  }

 private:
  core::AddressRange bounds_;
  std::vector<std::uint32_t> live_;  // by offset, packed; kUnknown where no instruction starts
  std::vector<core::Address> flags_across_calls_;
};

}  // namespace sp::rewriter
