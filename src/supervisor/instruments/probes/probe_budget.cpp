#include "supervisor/instruments/probes/probe_budget.h"

#include <algorithm>
#include <utility>

namespace sp::supervisor {
namespace {

constexpr core::Duration kFirstAllowance = std::chrono::milliseconds(3);
/// So much more than its share: what is spent goes over it by the last function's planting.
constexpr double kMostTold = 1.5;

}  // namespace

bool ProbeBudget::is_exceeded(core::Duration target_cpu) const {
  const double allowed = share_ * static_cast<double>(target_cpu.count());
  return share_ > 0 && static_cast<double>((spent_ - kFirstAllowance).count()) > allowed;
}

bool ProbeBudget::is_bottleneck(core::TimePoint now) {
  constexpr core::Duration kAllowance = std::chrono::seconds(1);
  const core::Duration elapsed = now - std::exchange(asked_, now);
  const core::Duration spent = spent_ - std::exchange(spent_then_, spent_);
  return spent_ > kAllowance && spent > elapsed / 3;
}

double ProbeBudget::used(core::Duration target_cpu) const {
  if (target_cpu.count() <= 0) {
    return 0;
  }
  const double used = static_cast<double>(spent_.count()) / static_cast<double>(target_cpu.count());
  return share_ > 0 ? std::min(used, share_ * kMostTold) : used;
}

core::Duration HitCost::add(core::Duration handled, core::Duration since_last) {
  if (since_last > core::Duration{}) {
    shortest_ = std::min(shortest_, since_last);
  }
  if (++in_batch_ == kBatch) {
    way_ = shortest_;
    shortest_ = kMost;
    in_batch_ = 0;
  }
  return handled + way_;
}

}  // namespace sp::supervisor
