#include "analyzer/instrumentation_policy.h"

#include <functional>

namespace sp::analyzer {

std::size_t InstrumentationPolicy::Hash::operator()(const Asked& asked) const {
  const auto pid = static_cast<std::uint64_t>(asked.process.pid);
  return std::hash<core::ModuleOffset>{}(asked.function) ^
         std::hash<std::uint64_t>{}(pid * 0x9E3779B97F4A7C15ULL);
}

std::vector<core::Address> InstrumentationPolicy::choose(core::ProcessId process,
                                                         std::span<const PolicyFrame> frames) {
  std::vector<core::Address> chosen;
  for (std::size_t depth = 0; depth < frames.size(); ++depth) {
    const PolicyFrame& frame = frames[depth];
    const bool is_deep_enough = depth == 0 || depth >= depth_;
    if (!frame.is_instrumentable || !is_deep_enough) {
      continue;
    }
    if (asked_.size() >= most_remembered_) {
      asked_.clear();
    }
    if (asked_.insert({process, frame.function}).second) {
      chosen.push_back(frame.address);
    }
  }
  return chosen;
}

void InstrumentationPolicy::forget(core::ProcessId process) {
  std::erase_if(asked_, [process](const Asked& asked) { return asked.process == process; });
}

}  // namespace sp::analyzer
