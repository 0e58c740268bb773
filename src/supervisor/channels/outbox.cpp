#include "supervisor/channels/outbox.h"

#include <utility>

namespace sp::supervisor {

void Outbox::deliver(core::StopEvent event) {
  if (closed_) {
    return;
  }
  flush();
  if (!waiting_.empty() || !channel_.try_push(std::move(event))) {
    waiting_.push_back(std::move(event));  // NOLINT(bugprone-use-after-move): refused, so untouched
  }
}

bool Outbox::offer(core::StopEvent event) {
  if (closed_) {
    return true;
  }
  flush();
  if (!waiting_.empty() || !channel_.try_push_quietly(std::move(event))) {
    ++dropped_;
    return false;
  }
  return true;
}

void Outbox::flush() {
  while (!waiting_.empty() && channel_.try_push(std::move(waiting_.front()))) {
    waiting_.pop_front();
  }
}

void Outbox::close() {
  closed_ = true;
  while (!waiting_.empty()) {
    channel_.push(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  if (dropped_ > 0) {
    channel_.push({{}, {}, core::Clock::now(), core::Lost{dropped_}});
  }
  channel_.close();
}

}  // namespace sp::supervisor
