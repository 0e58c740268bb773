#include <algorithm>

#include "profiler/trace/open_frames.h"

// One stack of a thread.
namespace sp::profiler {

std::uint32_t OpenFrames::Stack::depth() const {
  return static_cast<std::uint32_t>(frames.size() - left_out);
}

std::uint32_t OpenFrames::Stack::innermost() const {
  const auto told = std::find_if(frames.rbegin(), frames.rend(),
                                 [](const Frame& frame) { return !frame.is_left_out; });
  return told == frames.rend() ? TracedCall::kNoFunction : told->function;
}

bool OpenFrames::Stack::has_all_below(std::uint32_t sp, std::uint32_t segment) const {
  return !highest_sp || highest_segment != segment || core::sp_distance(sp, *highest_sp) > 0;
}

void OpenFrames::Stack::raise_highest(std::uint32_t sp, std::uint32_t segment) {
  if (has_all_below(sp, segment)) {
    highest_sp = sp;
    highest_segment = segment;
  }
}

}  // namespace sp::profiler
