#include "supervisor/sampling/idle_pace.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace sp::supervisor {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr core::Duration kIdleWindow = std::chrono::milliseconds(50);
constexpr Seconds kMemory{0.5};
/// Waking up with cold caches, and reading one more file.
constexpr core::Duration kTick = std::chrono::microseconds(20);
constexpr core::Duration kThread = std::chrono::microseconds(1);
/// Of a CPU, beside as much as the target takes.
constexpr double kShare = 0.003;
/// Who has slept for some time may sleep for an eighth of it unseen.
constexpr int kPartUnseen = 8;

}  // namespace

void IdlePace::saw(core::TimePoint now, bool any, std::size_t scanned, core::Duration target_cpu) {
  if (any) {
    last_busy_ = now;
  }
  cost_ = kTick + kThread * static_cast<core::Duration::rep>(scanned);
  if (now - share_at_ < kIdleWindow) {
    return;
  }
  const Seconds window = now - share_at_;
  const double used = Seconds(target_cpu - cpu_then_) / window;
  share_ += (used - share_) * (1 - std::exp(-window / kMemory));
  share_at_ = now;
  cpu_then_ = target_cpu;
}

double IdlePace::stretch(core::TimePoint now, core::Duration mean) const {
  const auto affordable = Seconds(cost_) / (kShare + share_);
  const auto apart = std::min<Seconds>(affordable, (now - last_busy_) / kPartUnseen);
  return mean > core::Duration{} ? std::max(apart / Seconds(mean), 1.0) : 1.0;
}

}  // namespace sp::supervisor
