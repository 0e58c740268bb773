#include "supervisor/instruments/probes/open_calls.h"

namespace sp::supervisor {

void OpenCalls::enter(std::uint32_t function, core::Address sp, core::TimePoint at,
                      std::uint32_t number) {
  if (calls_.size() >= kMost) {
    calls_.erase(calls_.begin());  // the innermost, or one that was skipped
  }
  calls_.insert_or_assign(sp, Call{function, number, at, stolen_});
}

std::optional<OpenCalls::Ended> OpenCalls::leave(std::uint32_t function, bool is_part,
                                                 core::Address sp, core::TimePoint at) {
  const auto call = calls_.find(sp);
  if (call == calls_.end() || (!is_part && call->second.function != function)) {
    return std::nullopt;
  }
  const Ended ended{call->second.number,
                    (at - call->second.begin) - (stolen_ - call->second.stolen)};
  calls_.erase(call);
  return ended;
}

bool OpenCalls::is_inside(std::uint32_t function, core::Address sp) const {
  const auto innermost = calls_.lower_bound(sp);
  return innermost != calls_.end() && innermost->second.function == function &&
         innermost->first != sp;
}

}  // namespace sp::supervisor
