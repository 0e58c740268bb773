#include "supervisor/tracees/sample_slot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "supervisor/linux/deferred_stop.h"

namespace sp::supervisor {
namespace {

/// A stop of the calling thread that was asked for, and of which no SIGSTOP is pending.
class SettleDiscardedStop : public testing::Test {
 protected:
  SettleDiscardedStop() {
    slot_.guard = &guard_;
    slot_.by_signal = true;
    slot_.state = SlotState::stop_pending;
    guard_.stops_in_flight = 1;
  }

  PendingStops guard_;
  SampleSlot slot_{{::getpid(), 0}, {::gettid(), 0}};
};

TEST_F(SettleDiscardedStop, lets_a_thread_be_asked_again_whose_stop_will_never_come) {
  settle_discarded_stop(slot_);
  EXPECT_EQ(slot_.state, SlotState::idle);
  EXPECT_EQ(guard_.stops_in_flight, 0);
}

TEST_F(SettleDiscardedStop, keeps_a_stop_that_is_sent_again_after_a_call_of_ours) {
  {
    const DeferredStop call;
    settle_discarded_stop(slot_);
    EXPECT_EQ(slot_.state, SlotState::stop_pending);
    EXPECT_EQ(guard_.stops_in_flight, 1);
  }
  settle_discarded_stop(slot_);
  EXPECT_EQ(slot_.state, SlotState::idle);
}

TEST_F(SettleDiscardedStop, keeps_a_stop_that_has_come_and_is_being_ended) {
  slot_.has_come = true;
  settle_discarded_stop(slot_);
  EXPECT_EQ(slot_.state, SlotState::stop_pending);
  EXPECT_EQ(guard_.stops_in_flight, 1);
}

TEST(DeferralWatch, sees_calls_that_are_made_meanwhile_or_have_begun_before) {
  const DeferralWatch none;
  EXPECT_TRUE(none.saw_none());
  { const DeferredStop call; }
  EXPECT_FALSE(none.saw_none());
  const DeferredStop outer;
  const DeferralWatch within;
  EXPECT_FALSE(within.saw_none());
}

}  // namespace
}  // namespace sp::supervisor
