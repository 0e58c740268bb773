#include "profiler/copies_text.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/text.h"

namespace sp::profiler {

std::string probes_text(const core::Probing& probing) {
  std::string text =
      fmt::format("probes: {} inserted in {} {}", grouped(probing.planted),
                  grouped(probing.functions), probing.functions == 1 ? "function" : "functions");
  if (probing.derived > 0) {
    text += fmt::format(", {} derived", grouped(probing.derived));
  }
  if (probing.removed > 0) {
    text += fmt::format(", {} removed because they were hot", grouped(probing.removed));
  }
  text += fmt::format("; {} {}", grouped(probing.hits), probing.hits == 1 ? "hit" : "hits");
  if (probing.uncounted_programs > 0) {
    text += fmt::format("; {} {} ended before getting any (-a counts all)",
                        grouped(probing.uncounted_programs),
                        probing.uncounted_programs == 1 ? "program" : "programs");
  }
  return text;
}

std::string copies_text(const core::Copying& copying) {
  if (copying.functions == 0 && copying.refused.empty()) {
    return "";
  }
  std::string text =
      fmt::format("copies: {} hot {} ran from {}, which counted {} executions",
                  grouped(copying.functions), copying.functions == 1 ? "function" : "functions",
                  copying.functions == 1 ? "a copy" : "copies", grouped(copying.executions));
  if (copying.dropped > 0) {
    text += fmt::format("; {} dropped again to keep to --overhead", grouped(copying.dropped));
  }
  const char* separator = "; not copied: ";
  for (const core::Copying::Refused& refused : copying.refused) {
    text += fmt::format("{}{} ({})", std::exchange(separator, ", "), grouped(refused.functions),
                        refused.reason);
  }
  return text;
}

}  // namespace sp::profiler
