#include "profiler/spoor/ordered_frames.h"

#include <algorithm>

#include "core/function_trace.h"
#include "profiler/trace/open_frames.h"

namespace sp::profiler {
namespace {

/// In the middle of what TraceEvent::sp() keeps, in units of 8 bytes.
constexpr std::uint64_t kMiddle = std::uint64_t{1} << 27U;
constexpr std::uint64_t kMostCallers = kMiddle / 2;

}  // namespace

std::uint64_t OrderedFrames::position() const {
  return (kMiddle - open_.size()) * core::TraceEvent::kSpUnit;
}

std::uint64_t OrderedFrames::enter(std::uint32_t function) {
  if (open_.size() < OpenFrames::kMostFrames) {
    open_.push_back(function);
    ++times_[function];
  }
  return position();
}

std::uint64_t OrderedFrames::leave(std::uint32_t function) {
  const auto found = times_.find(function);
  if (found == times_.end() || found->second == 0) {
    open_.clear();
    times_.clear();
    callers_ = std::min(callers_ + 1, kMostCallers);
    return (kMiddle + callers_) * core::TraceEvent::kSpUnit;
  }
  while (open_.back() != function) {
    --times_[open_.back()];
    open_.pop_back();
  }
  const std::uint64_t sp = position();
  --found->second;
  open_.pop_back();
  return sp;
}

}  // namespace sp::profiler
