#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/instruction.h"
#include "supervisor/breakpoints/edge_cache.h"
#include "supervisor/breakpoints/target_journal.h"
#include "supervisor/guardian/journal.h"

namespace sp::supervisor {

inline constexpr std::size_t kLongestCode = 15;  // bytes of any instruction

/// A gate is a breakpoint where the program makes a system call that matters to breakpoints.
enum class Gate : std::uint8_t {
  none,
  at_call,      // on the system call instruction
  at_number,    // on the instruction that loads the call's number, after its arguments
  at_function,  // at the beginning of syscall(3)
  behind_mmap,  // of the loader: code may have been mapped that nobody has executed yet
};

/// An instruction that has a breakpoint on it, or had one.
struct BreakpointSite {
  core::Instruction instruction;
  std::array<std::byte, kLongestCode> code{};  // the original bytes from the instruction on
  bool inserted = false;
  Journal::EntryId journal_entry = Journal::kNoEntry;
  TargetJournal::EntryId target_entry = TargetJournal::kNoEntry;
  std::uint64_t insertion = 0;  // the number of the last insertion; they count up

  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
  /// The loader comes here after it has mapped or before it unmaps a file.
  static constexpr std::uint32_t kSharedLibraryEvent = kNoBlock - 1;
  std::uint32_t block = kNoBlock;  // the block that a probe here counts

  Gate gate = Gate::none;
  std::uint16_t gate_number = 0;  // of the call behind a Gate::at_number

  /// The thread is to go on here, in a copy of the function; 0: there is none.
  core::Address copy;

  /// Where the instruction went last: only to code that is known and has its breakpoints.
  EdgeCache edge_cache;
};

}  // namespace sp::supervisor
