#pragma once

#include <string>

#include "core/run_facts.h"

namespace sp::profiler {

/// One sentence for the summary: how many probes there were.
[[nodiscard]] std::string probes_text(const core::Probing& probing);
/// One sentence for the summary: how many hot functions ran from copies, and why others did not.
/// "" if there were none.
[[nodiscard]] std::string copies_text(const core::Copying& copying);

}  // namespace sp::profiler
