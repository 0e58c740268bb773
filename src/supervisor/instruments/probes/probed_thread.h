#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/clock.h"
#include "core/messages.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Where a thread is, as far as probes go (default mode).
struct ProbedThread {
  bool counted = true;  // false: it is only helped over the breakpoints
  /// It does a displaced transfer, step by step, because it is to be seen where that goes: in a
  /// copy, or in its place, from which the breakpoint was lifted.
  struct Aside {
    core::Address site;
    ptrace::Registers before{};  // as they were in front of it
    bool in_copy = false;
  };
  std::optional<Aside> aside;
  /// It is single-stepped for a while to see where it goes.
  std::optional<core::Stepped> window;
  /// It was in a step when something else stopped it: that step's end may still be reported.
  bool was_stepped = false;
  /// It blocked SIGTRAP, which the kernel would take a breakpoint for a deadly fault with.
  /// This is its mask since then, unless it has set another one itself.
  std::optional<std::uint64_t> unblocked_mask;
  struct Hit {
    core::TimePoint begin;  // heard of
    core::TimePoint end;    // let run again
  };
  Hit last_hit;
  core::TimePoint resumed_at;  // from its last hit; zero: something else came since
};

}  // namespace sp::supervisor
