#include "supervisor/instruments/probes/probe_costs.h"

#include <algorithm>

namespace sp::supervisor {

core::Duration ProbeCosts::add_hit(ProbedThread& thread, core::TimePoint heard) {
  const core::TimePoint done = core::Clock::now();
  const core::Duration since_last =
      thread.resumed_at == core::TimePoint{} ? core::Duration{} : heard - thread.resumed_at;
  thread.resumed_at = done;
  thread.last_hit = {heard, done};
  const core::Duration cost =
      hit_cost_.add(std::max(done - heard - work_, core::Duration{}), since_last);
  last_hit_ = cost;
  spend(cost);
  meter_.add_hit(cost);
  return cost;
}

void ProbeCosts::add_work(core::Duration cost) {
  work_ += cost;
  spend(cost);
  meter_.add_work(cost);
  tell_timer();
}

void ProbeCosts::add_copies(core::Duration cost) {
  budget_.spend_in_copies(cost);
  meter_.add_counting(cost);
  tell_timer();
}

void ProbeCosts::spend(core::Duration cost) {
  budget_.spend(cost);
  spent_.store(budget_.spent().count(), std::memory_order_relaxed);
}

core::Duration ProbeCosts::target_cpu() const {
  return core::Duration{timer_.counts().target_cpu.load(std::memory_order_relaxed)};
}

}  // namespace sp::supervisor
