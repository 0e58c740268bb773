#include "supervisor/instruments/probes/trace_triggers.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using core::TraceAction;
using core::TraceTrigger;
using Actions = std::vector<TraceAction>;
using std::chrono::milliseconds;

TraceTrigger trigger(TraceAction action, std::optional<TraceTrigger::Condition> condition = {}) {
  TraceTrigger one;
  one.action = action;
  one.condition = condition;
  return one;
}

TEST(TraceTriggers, fire_at_entries_of_their_functions) {
  TraceTriggers triggers({trigger(TraceAction::on), trigger(TraceAction::flush)});
  EXPECT_EQ(triggers.that_switch_on(), 1U);
  EXPECT_EQ(triggers.on_entry(1, 1, {}), Actions{TraceAction::on});
  EXPECT_EQ(triggers.on_entry(2, 1, {}), Actions{TraceAction::flush});
  EXPECT_EQ(triggers.on_entry(3, 1, {}), (Actions{TraceAction::on, TraceAction::flush}));
  EXPECT_EQ(triggers.on_entry(0, 1, {}), Actions{});
  EXPECT_FALSE(triggers.watches_end(3));
  EXPECT_EQ(triggers.on_end(3, 1, milliseconds(9)), Actions{});
}

TEST(TraceTriggers, look_at_durations_when_calls_end) {
  const TraceTrigger::Condition longer{0, TraceTrigger::Compares::greater, 5'000'000};
  TraceTriggers triggers({trigger(TraceAction::flush, longer)});
  EXPECT_TRUE(triggers.watches_end(1));
  EXPECT_FALSE(triggers.look_at_arguments());
  EXPECT_EQ(triggers.on_entry(1, 1, {}), Actions{});
  EXPECT_EQ(triggers.on_end(1, 1, milliseconds(5)), Actions{});
  EXPECT_EQ(triggers.on_end(1, 1, milliseconds(6)), Actions{TraceAction::flush});
}

TEST(TraceTriggers, look_at_arguments_as_signed_numbers) {
  const TraceTrigger::Condition negative{2, TraceTrigger::Compares::less, 0};
  TraceTriggers triggers({trigger(TraceAction::stop, negative)});
  EXPECT_TRUE(triggers.look_at_arguments());
  EXPECT_EQ(triggers.on_entry(1, 1, {~0ULL, 1}), Actions{});
  EXPECT_EQ(triggers.on_entry(1, 1, {1, ~0ULL}), Actions{TraceAction::stop});
}

TEST(TraceTriggers, leave_out_the_first_calls_and_deep_ones) {
  TraceTrigger late = trigger(TraceAction::off);
  late.after = 2;
  late.depth = 1;
  TraceTriggers triggers({late});
  EXPECT_EQ(triggers.on_entry(1, 1, {}), Actions{});
  EXPECT_EQ(triggers.on_entry(1, 2, {}), Actions{});  // does not count either
  EXPECT_EQ(triggers.on_entry(1, 1, {}), Actions{});
  EXPECT_EQ(triggers.on_entry(1, 2, {}), Actions{});
  EXPECT_EQ(triggers.on_entry(1, 1, {}), Actions{TraceAction::off});
}

}  // namespace
}  // namespace sp::supervisor
