#include "profiler/emitter/emit_budget.h"

#include <algorithm>

namespace sp::profiler {

void EmitBudget::spend(std::uint64_t bytes, core::TimePoint now) {
  if (limit_ && now - began_ >= limit_->per) {
    began_ += (now - began_) / limit_->per * limit_->per;
    spent_ = 0;
  }
  spent_ += bytes;
  last_ = bytes;
}

core::Duration EmitBudget::period(core::Duration wanted, core::TimePoint now) const {
  constexpr std::uint64_t kFreePercent = 90;
  constexpr std::uint64_t kPercent = 100;
  if (!limit_ || now - began_ >= limit_->per || spent_ < limit_->bytes / kPercent * kFreePercent) {
    return wanted;
  }
  const core::Duration left = limit_->per - (now - began_);
  const std::uint64_t bytes = limit_->bytes - std::min(limit_->bytes, spent_);
  const std::uint64_t profiles = bytes / std::max<std::uint64_t>(last_, 1);
  if (profiles == 0) {
    return std::max(wanted, left);
  }
  return std::max(wanted, left / static_cast<core::Duration::rep>(profiles));
}

}  // namespace sp::profiler
