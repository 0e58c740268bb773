#include "supervisor/channels/outbox.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace sp::supervisor {
namespace {

core::StopEvent named(const std::string& name) { return {{}, {}, {}, core::ThreadStarted{name}}; }
core::StopEvent sample() { return {{}, {}, {}, core::Sampled{}}; }

std::string next(core::Channel<core::StopEvent>& channel) {
  const auto event = channel.try_pop();
  if (!event) {
    return "nothing";
  }
  if (const auto* lost = std::get_if<core::Lost>(&event->detail)) {
    return "lost " + std::to_string(lost->samples);
  }
  const auto* started = std::get_if<core::ThreadStarted>(&event->detail);
  return started != nullptr ? started->name : "sample";
}

TEST(Outbox, passes_events_on_in_order) {
  core::Channel<core::StopEvent> channel(8);
  Outbox outbox(channel);
  outbox.deliver(named("a"));
  EXPECT_TRUE(outbox.offer(sample()));
  outbox.deliver(named("b"));
  EXPECT_EQ(next(channel), "a");
  EXPECT_EQ(next(channel), "sample");
  EXPECT_EQ(next(channel), "b");
}

TEST(Outbox, drops_and_counts_samples_only) {
  core::Channel<core::StopEvent> channel(2);
  Outbox outbox(channel);
  outbox.deliver(named("a"));
  EXPECT_TRUE(outbox.offer(sample()));
  EXPECT_FALSE(outbox.offer(sample()));
  outbox.deliver(named("b"));  // full: it waits
  EXPECT_FALSE(outbox.offer(sample()));
  EXPECT_EQ(outbox.dropped(), 2U);
  EXPECT_EQ(next(channel), "a");
  EXPECT_EQ(next(channel), "sample");
  EXPECT_EQ(next(channel), "nothing");
  outbox.flush();
  EXPECT_EQ(next(channel), "b");
}

TEST(Outbox, lets_no_sample_overtake_what_waits) {
  core::Channel<core::StopEvent> channel(1);
  Outbox outbox(channel);
  outbox.deliver(named("a"));
  outbox.deliver(named("b"));
  EXPECT_EQ(next(channel), "a");
  // There is room for one, which is b's.
  EXPECT_FALSE(outbox.offer(sample()));
  EXPECT_EQ(next(channel), "b");
  EXPECT_TRUE(outbox.offer(sample()));
}

TEST(Outbox, says_at_the_end_what_was_lost) {
  core::Channel<core::StopEvent> channel(4);
  Outbox outbox(channel);
  while (outbox.offer(sample())) {
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(next(channel), "sample");
  }
  outbox.close();
  EXPECT_EQ(next(channel), "lost 1");
  EXPECT_TRUE(channel.finished());
}

TEST(Outbox, is_deaf_after_its_end) {
  core::Channel<core::StopEvent> channel(4);
  Outbox outbox(channel);
  outbox.close();
  outbox.deliver(named("late"));
  (void)outbox.offer(sample());
  EXPECT_TRUE(channel.finished());
  EXPECT_EQ(outbox.dropped(), 0U);
}

}  // namespace
}  // namespace sp::supervisor
