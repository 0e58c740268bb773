#include "analyzer/off_cpu_time.h"

#include <utility>

namespace sp::analyzer {

void OffCpuTime::learn(core::ThreadId thread, std::uint64_t wait_id, std::string syscall,
                       core::Stack stack, bool wait_for_better) {
  Wait& wait = waits_[thread];
  const std::uint64_t held = wait.id == wait_id ? wait.held_ticks : 0;
  wait = {wait_id, std::move(syscall), std::move(stack), wait_for_better, held};
}

std::optional<OffCpuTime::Entry> OffCpuTime::count(core::ThreadId thread, std::uint64_t wait_id,
                                                   std::uint64_t ticks) {
  const auto found = waits_.find(thread);
  if (found == waits_.end() || found->second.id != wait_id) {
    return std::nullopt;
  }
  Wait& wait = found->second;
  if (wait.held) {
    wait.held_ticks += ticks;
    return std::nullopt;
  }
  const std::uint64_t all = ticks + std::exchange(wait.held_ticks, 0);
  if (all == 0) {
    return std::nullopt;
  }
  return Entry{all, wait.stack, wait.syscall};
}

std::optional<OffCpuTime::Entry> OffCpuTime::take_held(core::ThreadId thread) {
  const auto found = waits_.find(thread);
  if (found == waits_.end() || found->second.held_ticks == 0) {
    return std::nullopt;
  }
  Wait& wait = found->second;
  wait.held = false;
  return Entry{std::exchange(wait.held_ticks, 0), wait.stack, wait.syscall};
}

std::vector<core::ThreadId> OffCpuTime::threads() const {
  std::vector<core::ThreadId> threads;
  threads.reserve(waits_.size());
  for (const auto& [thread, wait] : waits_) {
    threads.push_back(thread);
  }
  return threads;
}

}  // namespace sp::analyzer
