#include "supervisor/sampling/blocked_threads.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

namespace sp::supervisor {
namespace {

/// A thread that waits in read(2) until it is told to end.
class Reader {
 public:
  Reader() {
    EXPECT_EQ(::pipe(ends_.data()), 0);
    thread_ = std::thread([this] {
      tid_ = ::gettid();
      char byte = 0;
      (void)!::read(ends_[0], &byte, 1);
    });
    while (tid_ == 0) {
      std::this_thread::yield();
    }
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    (void)!::write(ends_[1], "x", 1);
    thread_.join();
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  [[nodiscard]] pid_t tid() const { return tid_; }

 private:
  std::array<int, 2> ends_{};
  std::atomic<pid_t> tid_{0};
  std::thread thread_;
};

struct BlockedReader : ::testing::Test {
  /// Looks until the thread has come to wait in read(2), and returns the first report of that.
  core::OffCpuSample find_wait() {
    const auto deadline = core::Clock::now() + std::chrono::seconds(20);
    while (core::Clock::now() < deadline) {
      (void)blocked.found_blocked(slot, now);
      auto event = events.try_pop();
      if (event && std::get<core::OffCpuSample>(event->detail).syscall == "read") {
        return std::get<core::OffCpuSample>(std::move(event->detail));
      }
      std::this_thread::yield();
    }
    ADD_FAILURE() << "the thread was not seen waiting in read()";
    return {};
  }

  const Reader reader;
  SampleSlot slot{core::ProcessId{::getpid(), 1}, core::ThreadId{reader.tid(), 1}};
  core::Channel<core::StopEvent> events{64};
  BlockedThreads blocked{events};
  const core::TimePoint now = core::Clock::now();
};

TEST_F(BlockedReader, is_reported_with_its_stack_once_and_then_counted) {
  EXPECT_FALSE(blocked.is_followed(slot));
  const core::OffCpuSample first = find_wait();
  EXPECT_TRUE(blocked.is_followed(slot));
  EXPECT_TRUE(first.unstopped);
  ASSERT_TRUE(first.raw);
  EXPECT_FALSE(first.raw->bytes.empty());

  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(blocked.found_blocked(slot, now));
  }
  EXPECT_FALSE(events.try_pop());
  blocked.woke(slot, now);
  const auto event = events.try_pop();
  ASSERT_TRUE(event);
  const auto& counted = std::get<core::OffCpuSample>(event->detail);
  EXPECT_EQ(counted.wait_id, first.wait_id);
  EXPECT_EQ(counted.ticks, 3U);
  EXPECT_FALSE(counted.raw);
  EXPECT_FALSE(blocked.is_followed(slot));
}

TEST_F(BlockedReader, is_in_another_wait_after_it_was_running) {
  const core::OffCpuSample first = find_wait();
  blocked.woke(slot, now);
  const core::OffCpuSample second = find_wait();
  EXPECT_NE(second.wait_id, first.wait_id);
}

TEST_F(BlockedReader, is_reported_a_last_time_at_its_end) {
  (void)find_wait();
  (void)blocked.found_blocked(slot, now);
  blocked.ended(slot, now);
  const auto event = events.try_pop();
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<core::OffCpuSample>(event->detail).ticks, 1U);
  EXPECT_FALSE(blocked.is_followed(slot));
}

TEST_F(BlockedReader, is_reported_again_if_the_report_was_dropped) {
  core::Channel<core::StopEvent> full(0);
  BlockedThreads dropping(full);
  (void)find_wait();  // it waits by now
  EXPECT_FALSE(dropping.found_blocked(slot, now));
  EXPECT_FALSE(dropping.is_followed(slot));
}

TEST_F(BlockedReader, is_woken_by_us_only_where_a_stop_of_ours_has_scheduled_it) {
  EXPECT_FALSE(blocked.was_woken_by_us(slot));
  (void)find_wait();
  EXPECT_FALSE(blocked.was_woken_by_us(slot));
  slot.scheduled_by_us = true;
  EXPECT_TRUE(blocked.was_woken_by_us(slot));
}

}  // namespace
}  // namespace sp::supervisor
