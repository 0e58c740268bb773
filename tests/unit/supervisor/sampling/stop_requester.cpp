#include "supervisor/sampling/stop_requester.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace sp::supervisor {
namespace {

std::shared_ptr<SampleSlot> slot_of(pid_t tid) {
  return std::make_shared<SampleSlot>(core::ProcessId{::getpid(), 1}, core::ThreadId{tid, 1});
}

struct StopRequests : ::testing::Test {
  UserRequests user_requests;
  WakeupSignal wakeup;
};

TEST_F(StopRequests, are_left_to_the_ptrace_thread_where_no_signal_may_be_sent) {
  StopRequester requester(StopWith::interrupt, false, user_requests, wakeup);
  const auto slot = slot_of(::gettid());
  const auto since = core::Clock::now();
  requester.request(slot, since);
  EXPECT_EQ(slot->state, SlotState::stop_pending);
  EXPECT_EQ(slot->stop_requested_at, since.time_since_epoch().count());
  EXPECT_FALSE(slot->by_signal);
  EXPECT_TRUE(user_requests.interrupts_wanted);
  EXPECT_TRUE(wakeup.taken());
  EXPECT_EQ(requester.take_interrupts(), SampleSlots::List{slot});
  EXPECT_TRUE(requester.take_interrupts().empty());
}

TEST_F(StopRequests, are_made_of_idle_threads_only) {
  StopRequester requester(StopWith::interrupt, false, user_requests, wakeup);
  const auto slot = slot_of(::gettid());
  slot->state = SlotState::not_sampled;
  requester.request(slot, core::Clock::now());
  EXPECT_EQ(slot->state, SlotState::not_sampled);
  EXPECT_TRUE(requester.take_interrupts().empty());
}

TEST_F(StopRequests, leave_nothing_pending_where_the_thread_is_gone) {
  StopRequester requester(StopWith::sigstop, false, user_requests, wakeup);
  constexpr pid_t kNoThread = 0x3fffffff;  // beyond the kernel's largest pid_max
  const auto slot = slot_of(kNoThread);
  PendingStops pending;
  slot->guard = &pending;
  requester.request(slot, core::Clock::now());
  EXPECT_EQ(slot->state, SlotState::idle);
  EXPECT_EQ(pending.stops_in_flight, 0);
}

TEST_F(StopRequests, stand_for_all_ticks_since_the_last_one_if_ticks_are_counted) {
  StopRequester requester(StopWith::interrupt, true, user_requests, wakeup);
  const auto first = slot_of(::gettid());
  const auto second = slot_of(::gettid());
  requester.add_ticks(2);
  requester.add_ticks(3);
  requester.request(first, core::Clock::now());
  requester.request(second, core::Clock::now());
  EXPECT_EQ(first->ticks, 5U);
  EXPECT_EQ(second->ticks, 1U);
}

TEST_F(StopRequests, can_be_paused) {
  StopRequester requester(StopWith::interrupt, false, user_requests, wakeup);
  EXPECT_FALSE(requester.is_paused());
  requester.pause();
  const auto lock = requester.lock();
  EXPECT_TRUE(requester.is_paused());
}

}  // namespace
}  // namespace sp::supervisor
