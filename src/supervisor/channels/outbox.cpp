#include "supervisor/channels/outbox.h"

#include <utility>
#include <variant>

namespace sp::supervisor {
namespace {

/// Nobody has to look at anything while it is still there. A program may start a thousand processes
/// a second, each with some of these events.
bool can_wait(const core::StopEvent& event) {
  return std::holds_alternative<core::ProcessStarted>(event.detail) ||
         std::holds_alternative<core::ThreadStarted>(event.detail) ||
         std::holds_alternative<core::ThreadEnded>(event.detail) ||
         std::holds_alternative<core::ProcessEnded>(event.detail);
}

}  // namespace

void Outbox::deliver(core::StopEvent event) {
  if (closed_) {
    return;
  }
  flush();
  const bool is_pushed =
      waiting_.empty() && (can_wait(event) ? channel_.try_push_quietly(std::move(event))
                                           : channel_.try_push(std::move(event)));
  if (!is_pushed) {
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
