#include "profiler/push/sender.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <utility>

namespace sp::profiler {

Sender::Sender(Post post)
    : post_(std::move(post)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Sender::~Sender() {
  thread_.request_stop();
  thread_.join();
}

void Sender::send(HttpRequest request) {
  {
    const std::lock_guard lock(mutex_);
    request_ = std::move(request);
    is_busy_ = true;
  }
  changed_.notify_all();
}

bool Sender::is_busy() const {
  const std::lock_guard lock(mutex_);
  return is_busy_;
}

std::optional<core::Result<long>> Sender::take_answer() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answer_, std::nullopt);
}

void Sender::wait(core::Duration time) {
  std::unique_lock lock(mutex_);
  (void)changed_.wait_for(lock, time, [this] { return !is_busy_; });
}

void Sender::run(const std::stop_token& stop) {
  ::prctl(PR_SET_NAME, "sp-push");
  // A TLS library may write to a connection that the server has closed.
  sigset_t all;
  ::sigfillset(&all);
  (void)::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return request_.has_value(); })) {
    const HttpRequest request = *std::exchange(request_, std::nullopt);
    lock.unlock();
    auto answer = post_(request, [&stop] { return stop.stop_requested(); });
    lock.lock();
    answer_ = std::move(answer);
    is_busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace sp::profiler
