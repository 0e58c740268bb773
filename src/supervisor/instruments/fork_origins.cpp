#include "supervisor/instruments/fork_origins.h"

#include <chrono>
#include <utility>

#include "supervisor/breakpoints/memory_origin.h"
#include "supervisor/instruments/detach.h"

namespace sp::supervisor {
namespace {

/// How many ended processes are remembered, and for how long.
constexpr std::size_t kMostEnded = 16;
constexpr core::Duration kLongestEnded = std::chrono::seconds(2);

std::shared_ptr<InstrumentedCode> share_code(const TracedProcess& process) {
  return std::static_pointer_cast<InstrumentedCode>(process.code_state);
}

}  // namespace

void ForkOrigins::announce(pid_t child, ForkOrigin origin) {
  announced_[child] = std::move(origin);
}

const ForkOrigin* ForkOrigins::announced(pid_t child) const {
  const auto found = announced_.find(child);
  return found == announced_.end() ? nullptr : &found->second;
}

void ForkOrigins::remember_ended(const std::shared_ptr<TracedProcess>& process,
                                 core::TimePoint now) {
  while (!ended_.empty() &&
         (ended_.size() >= kMostEnded || now - ended_.front().time > kLongestEnded)) {
    ended_.pop_front();
  }
  if (has_memory_of_ours(*process)) {
    ended_.push_back({now, share_code(*process)});
  }
}

/// A child that was not announced was quicker than its parent's report, or its parent was killed in
/// the call. The parent's pid alone does not tell: the child may have got another parent by now.
ForkOrigin ForkOrigins::find(pid_t child, const TracedProcess* parent) const {
  if (const ForkOrigin* const known = announced(child)) {
    return *known;
  }
  if (auto code = parent != nullptr ? share_code(*parent) : nullptr;
      code != nullptr && memory_origin(*code, child) != MemoryOrigin::other_process) {
    return {std::move(code), 0, false, false};
  }
  for (const Ended& ended : ended_) {
    if (memory_origin(*ended.code, child) == MemoryOrigin::copy) {
      return {ended.code, 0, false, false};
    }
  }
  return {};
}

}  // namespace sp::supervisor
