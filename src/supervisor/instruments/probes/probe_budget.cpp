#include "supervisor/instruments/probes/probe_budget.h"

#include <algorithm>
#include <utility>

namespace sp::supervisor {
namespace {

/// Of copies: a tenth of a second's work at the default --overhead.
constexpr core::Duration kFirstAllowanceOfCopies = std::chrono::milliseconds(25);
/// Of the share: inserting the probes of the last function may exceed it, and copies use what
/// probes leave.
constexpr double kMostReported = 1.5;

}  // namespace

bool ProbeBudget::is_exceeded(core::Duration target_cpu, core::Duration following) const {
  constexpr double kLeast = 0.25;
  const double whole = share_ * static_cast<double>(target_cpu.count());
  const double allowed =
      std::max(whole - static_cast<double>(following.count()) / 2, kLeast * whole);
  return share_ > 0 && static_cast<double>((spent_ - first_allowance_).count()) > allowed;
}

bool ProbeBudget::is_too_much(core::Duration beside) const {
  constexpr core::Duration kLittle = std::chrono::milliseconds(5);
  return beside > kLittle && beside > spent_ / 4;
}

std::optional<double> ProbeBudget::limit_of_copies(core::Duration target_cpu) const {
  const auto own = static_cast<double>((target_cpu - in_copies_).count());
  if (share_ <= 0 || own <= 0) {
    return std::nullopt;
  }
  const double limit =
      std::max(share_ * kMostReported - static_cast<double>(spent_.count()) / own, 0.0);
  const auto late = static_cast<double>((in_copies_ - kFirstAllowanceOfCopies).count());
  return late > limit * own ? std::optional(limit) : std::nullopt;
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
  const double used =
      static_cast<double>((spent_ + in_copies_).count()) / static_cast<double>(target_cpu.count());
  return share_ > 0 ? std::min(used, share_ * kMostReported) : used;
}

core::Duration HitCost::add(core::Duration handled, core::Duration since_last) {
  if (since_last > core::Duration{}) {
    between_.at(known_++) = since_last;
  }
  if (++in_batch_ == kBatch) {
    learn_way();
  }
  constexpr int kFarAbove = 8;
  constexpr int kSmoothing = 16;
  const core::Duration own = std::min(handled, kFarAbove * usual_);
  usual_ += (own - usual_) / kSmoothing;
  return own + way_;
}

void HitCost::learn_way() {
  const auto end = between_.begin() + static_cast<std::ptrdiff_t>(known_);
  const auto shortest = std::min_element(between_.begin(), end);
  if (shortest != end && *shortest < kMost) {
    round_trip_ = *shortest;
    const auto quarter = between_.begin() + static_cast<std::ptrdiff_t>(known_ / 4);
    std::nth_element(between_.begin(), quarter, end);
    way_ = std::min(*quarter, 2 * round_trip_);
  }
  known_ = 0;
  in_batch_ = 0;
}

}  // namespace sp::supervisor
