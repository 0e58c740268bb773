#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "core/clock.h"

namespace sp::core {

/// A bounded queue between two stages: one stage writes, one reads. close() refuses further writes;
/// the reader still gets what was queued. A push costs 60-70 ns with a mutex and a deque, and a
/// ptrace stop thousands, so a lock-free queue would gain nothing.
template <typename T>
class Channel {
 public:
  explicit Channel(std::size_t capacity) : capacity_(capacity) {}

  /// False if the channel is full or closed; `value` is then unchanged.
  [[nodiscard]] bool try_push(T&& value) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || queue_.size() >= capacity_) {
        return false;
      }
      queue_.push_back(std::move(value));
    }
    ready_.notify_one();
    return true;
  }

  /// try_push() for a writer that must not pay for a wake-up, which can cost 40 us from one CPU to
  /// another. The reader finds the value when it next polls (see pop()); it is woken once the
  /// channel is a quarter full.
  [[nodiscard]] bool try_push_quietly(T&& value) {
    bool filling = false;
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || queue_.size() >= capacity_) {
        return false;
      }
      queue_.push_back(std::move(value));
      filling = queue_.size() == capacity_ / 4 + 1;
    }
    if (filling) {
      ready_.notify_one();
    }
    return true;
  }

  /// Waits for room. False if the channel was closed.
  bool push(T value) {
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [this] { return closed_ || queue_.size() < capacity_; });
      if (closed_) {
        return false;
      }
      queue_.push_back(std::move(value));
    }
    ready_.notify_one();
    return true;
  }

  /// Waits for a value, polling every 5 ms; nothing once the channel is closed and empty.
  [[nodiscard]] std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    while (!ready_.wait_for(lock, kLookPeriod, [this] { return closed_ || !queue_.empty(); })) {
    }
    return take(lock);
  }

  /// Waits until `deadline`; nothing if no value came by then (see closed()).
  [[nodiscard]] std::optional<T> pop_until(TimePoint deadline) {
    std::unique_lock lock(mutex_);
    ready_.wait_until(lock, deadline, [this] { return closed_ || !queue_.empty(); });
    return take(lock);
  }

  [[nodiscard]] std::optional<T> try_pop() {
    std::unique_lock lock(mutex_);
    return take(lock);
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
    room_.notify_all();
  }

  /// True if no value will come out any more.
  [[nodiscard]] bool finished() const {
    const std::lock_guard lock(mutex_);
    return closed_ && queue_.empty();
  }

 private:
  static constexpr Duration kLookPeriod = std::chrono::milliseconds(5);

  std::optional<T> take(std::unique_lock<std::mutex>& lock) {
    if (queue_.empty()) {
      return std::nullopt;
    }
    std::optional<T> value(std::move(queue_.front()));
    queue_.pop_front();
    lock.unlock();
    room_.notify_one();
    return value;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable room_;
  std::deque<T> queue_;
  bool closed_ = false;
};

}  // namespace sp::core
