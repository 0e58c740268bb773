#include "supervisor/channels/trace_requests.h"

#include <utility>

namespace sp::supervisor {

void TraceRequests::ask(core::TraceRequest request) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_last = !asked_.empty() && asked_.back().action == request.action;
    if (request.ticket == 0 && is_last) {
      return;
    }
    asked_.push_back(std::move(request));
  }
  has_any_ = true;
  wakeup_.send();
}

std::vector<core::TraceRequest> TraceRequests::take() {
  if (!has_any_.exchange(false)) {
    return {};
  }
  const std::lock_guard lock(mutex_);
  return std::exchange(asked_, {});
}

}  // namespace sp::supervisor
