#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "core/value_histogram.h"

namespace sp::core {

/// Calls that are alike in all that CallQuery asks for, since they were last told. `Where` is
/// core::Address (supervisor) or core::ModuleOffset (from the analyzer on).
template <typename Where>
struct CallGroup {
  Where function;                   // its first instruction
  std::vector<std::string> values;  // as CallQuery::values; "" if not known
  Where caller;                     // with by_caller: where they return to
  ThreadId thread;                  // with by_thread
  /// If CallQuery::needs_returns(): those that have ended.
  std::uint64_t calls = 0;
  /// Of these, ended by a jump to another function: what that returns is not known.
  std::uint64_t tail_calls = 0;
  ValueHistogram measured{};  // durations in nanoseconds
};

template <typename Where>
struct CallGroups {
  std::vector<CallGroup<Where>> groups;
  std::uint64_t ungrouped = 0;  // calls that found no room: there are too many groups
};

}  // namespace sp::core
