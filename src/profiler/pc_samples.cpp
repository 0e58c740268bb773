#include "profiler/pc_samples.h"

#include <algorithm>

namespace sp::profiler {

std::vector<PcSamples> pc_samples(const Profile& profile) {
  std::vector<PcSamples> all;
  for (const Profile::Node& node : profile.nodes()) {
    // The stack of a blocked thread ends in a marker below its innermost frame.
    if (node.samples == 0 || node.step == IdIndex::kNone ||
        profile.steps()[node.step].kind != StepKind::instruction) {
      continue;
    }
    const Step& step = profile.steps()[node.step];
    all.push_back({{step.module, step.value}, node.samples});
  }
  std::sort(all.begin(), all.end(),
            [](const PcSamples& a, const PcSamples& b) { return a.where < b.where; });
  std::size_t kept = 0;
  for (const PcSamples& one : all) {
    if (kept > 0 && all[kept - 1].where == one.where) {
      all[kept - 1].samples += one.samples;
    } else {
      all[kept++] = one;
    }
  }
  all.resize(kept);
  return all;
}

std::uint64_t samples_in(std::span<const PcSamples> samples, core::ModuleOffset start,
                         std::uint64_t size) {
  auto at = std::lower_bound(
      samples.begin(), samples.end(), start,
      [](const PcSamples& one, core::ModuleOffset where) { return one.where < where; });
  std::uint64_t sum = 0;
  for (; at != samples.end() && at->where.module == start.module &&
         at->where.offset - start.offset < size;
       ++at) {
    sum += at->samples;
  }
  return sum;
}

}  // namespace sp::profiler
