#pragma once

#include <cstdint>
#include <string>

#include "core/run_facts.h"

namespace sp::profiler {

/// One sentence for the summary: how many events --trace has, and what is missing. `unwritten`: how
/// many of `trace.events` could not be written, with `is_full` because of --trace-size; `cleared`:
/// how many were forgotten after that.
[[nodiscard]] std::string trace_text(const core::Tracing& trace, std::uint64_t unwritten,
                                     std::uint64_t cleared, bool is_full = false);

}  // namespace sp::profiler
