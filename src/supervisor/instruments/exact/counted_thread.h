#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"
#include "supervisor/instruments/exact/counted_code.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Where a thread is, as far as counting it goes. Between two of its stops it runs freely through
/// planted code or, where `stepped`, does the one instruction `next`.
struct CountedThread {
  bool begun = false;   // its first stop was seen
  bool counted = true;  // false: it is only helped over the breakpoints
  bool stepped = false;
  std::optional<core::Instruction> next;

  /// A signal was delivered by a single step; the next stop says whether it has a handler.
  bool delivering = false;
  core::Address interrupted_at;
  struct Interrupted {
    core::Address at;
    bool stepped = false;
  };
  std::vector<Interrupted> interrupted;  // by handlers that have not returned yet

  /// It blocks SIGTRAP, as it sees it: the kernel would take a breakpoint for a deadly fault then,
  /// so while user code runs it does not really.
  bool blocks_trap = false;
  bool trap_is_held = false;  // and one was sent to it since

  /// The system call that it is in.
  struct Call {
    std::uint64_t number = 0;
    std::array<std::uint64_t, 6> arguments{};
    std::uint64_t insertions = 0;    // at its entry
    bool shows_our_handler = false;  // it is a sigaction that asks for SIGTRAP's
    bool without_second = false;     // its second argument was set to 0
    bool done_in_its_stead = false;  // the kernel does nothing
  };
  std::optional<Call> call;

  /// It does one displaced instruction: in its place, from which the breakpoint was lifted, or in a
  /// copy.
  struct Aside {
    core::Address site;
    ptrace::Registers before{};  // as they were in front of it
    bool in_copy = false;
    /// It runs through a copied sequence to one of the breakpoints behind that: its last
    /// instruction, by which the ways out are known.
    std::optional<core::Address> end_of_sequence;
  };
  std::optional<Aside> aside;
};

}  // namespace sp::supervisor
