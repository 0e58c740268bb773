#include "profiler/code_profile.h"

#include <algorithm>

namespace sp::profiler {

void CodeProfile::add(const core::CodeCountsTaken& taken) {
  for (const core::DynamicBlock<core::ModuleOffset>& run : taken.runs) {
    add(run);
  }
  for (const Edge& edge : taken.edges) {
    edges_.add(edge);
  }
}

void CodeProfile::forget_counts() {
  edges_.clear();
  dropped_runs_ = 0;
  changed_runs_ = 0;
}

void CodeProfile::add(const core::DynamicBlock<core::ModuleOffset>& run) {
  const std::uint32_t known = find_run(run.start);
  if (run.lengths.empty()) {
    return;
  }
  bool grew = false;
  if (known != IdIndex::kNone) {
    const auto before = lengths(runs_[known]);
    const std::size_t in_both = std::min(before.size(), run.lengths.size());
    const bool agree = std::equal(
        before.begin(), before.begin() + static_cast<std::ptrdiff_t>(in_both), run.lengths.begin());
    // It was reported shorter, before a thread returned from a system call in it.
    if (agree && run.lengths.size() <= before.size()) {
      return;
    }
    grew = agree;
  }
  const bool full = known == IdIndex::kNone && runs_.size() >= max_runs_;
  if (full || lengths_.size() + run.lengths.size() > kMaxInstructions) {
    ++dropped_runs_;
    return;
  }
  const Run kept{run.start, static_cast<std::uint32_t>(lengths_.size()),
                 static_cast<std::uint32_t>(run.lengths.size())};
  lengths_.insert(lengths_.end(), run.lengths.begin(), run.lengths.end());
  if (known != IdIndex::kNone) {
    runs_[known] = kept;
    changed_runs_ += grew ? 0 : 1;
    return;
  }
  runs_.push_back(kept);
  run_index_.insert(static_cast<std::uint32_t>(runs_.size() - 1),
                    [this](std::uint32_t id) { return hash_of(runs_[id].start); });
}

const CodeProfile::Run* CodeProfile::run_at(core::ModuleOffset start) const {
  const std::uint32_t id = find_run(start);
  return id == IdIndex::kNone ? nullptr : &runs_[id];
}

std::uint32_t CodeProfile::find_run(core::ModuleOffset start) const {
  return run_index_.find(hash_of(start),
                         [&](std::uint32_t id) { return runs_[id].start == start; });
}

}  // namespace sp::profiler
