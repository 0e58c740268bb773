#include "profiler/slices.h"

#include <algorithm>

namespace sp::profiler {

void Slices::for_each(const Visit& visit) {
  recording_.for_each_sample([&](const RecordingSample& sample) { take(sample, visit); });
  for (std::uint32_t number = 0; number < threads_.size(); ++number) {
    Thread& thread = threads_[number];
    close(number, thread, 0, thread.last_ns + hold_ns_, visit);
  }
}

void Slices::take(const RecordingSample& sample, const Visit& visit) {
  if (names_.stack_of(sample.node, stack_) == Profile::kPcOnlyRoot) {
    return;  // nothing is known of what its function was called by
  }
  if (!stack_.empty() && names_.kind_of(stack_.front()) == FunctionKind::thread) {
    stack_.erase(stack_.begin());
  }
  if (sample.thread >= threads_.size()) {
    threads_.resize(sample.thread + 1);
  }
  Thread& thread = threads_[sample.thread];
  // A wait is reported late; what was found since then is not taken back.
  const std::int64_t time = std::max(sample.time_ns, thread.last_ns);
  if (time - thread.last_ns > hold_ns_) {
    close(sample.thread, thread, 0, thread.last_ns + hold_ns_, visit);
  }
  const auto differs =
      std::mismatch(stack_.begin(), stack_.end(), thread.open.begin(), thread.open.end());
  close(sample.thread, thread, static_cast<std::size_t>(differs.first - stack_.begin()), time,
        visit);
  for (std::size_t depth = thread.open.size(); depth < stack_.size(); ++depth) {
    visit({time, sample.thread, stack_[depth], true});
  }
  thread.open = stack_;
  thread.last_ns = time;
}

/// Ends what is open from `depth` inwards.
void Slices::close(std::uint32_t number, Thread& thread, std::size_t depth, std::int64_t at,
                   const Visit& visit) {
  while (thread.open.size() > depth) {
    visit({at, number, thread.open.back(), false});
    thread.open.pop_back();
  }
}

std::int64_t hold_of(const RecordedRun& run, const RecordingSamples& samples) {
  constexpr double kIntervals = 10;
  return std::max(Slices::kLeastHold,
                  static_cast<std::int64_t>(kIntervals * run.interval_us * 1000 *
                                            static_cast<double>(samples.stride)));
}

}  // namespace sp::profiler
