#include "profiler/counted_span.h"

#include <gtest/gtest.h>

#include "unit/profiler/probed.h"

namespace sp::profiler {
namespace {

using namespace std::chrono_literals;
using test::second;

std::string kind(const CountedSpan& span) { return kind_text(span, second(10)); }

TEST(CountedSpan, is_said_in_seconds_of_the_run) {
  EXPECT_EQ(kind({}), "exact");
  EXPECT_EQ(kind({.since = second(12)}), "exact-since:2.000");
  EXPECT_EQ(kind({.until = second(17.25)}), "exact-until:7.250");
  EXPECT_EQ(kind({second(12), second(17.25)}), "exact-since:2.000,until:7.250");
}

TEST(CountedSpan, is_said_in_words_in_a_table) {
  EXPECT_EQ(span_text({}, second(10)), "whole run");
  EXPECT_EQ(span_text({.since = second(12)}, second(10)), "since 2.000 s");
  EXPECT_EQ(span_text({.until = second(17.25)}, second(10)), "until 7.250 s");
  EXPECT_EQ(span_text({second(12), second(17.25)}, second(10)), "2.000-7.250 s");
}

TEST(CountedSpan, promises_no_moment_that_was_not_counted) {
  EXPECT_EQ(kind({second(12) + 1us, second(17.25) + 999us}), "exact-since:2.001,until:7.250");
  EXPECT_EQ(kind({.since = second(9)}), "exact-since:0.000");
}

TEST(CountedSpan, of_two_is_what_both_have) {
  const CountedSpan early = {second(1), second(5)};
  const CountedSpan late = {second(2), second(6)};
  EXPECT_EQ(shared(early, late), (CountedSpan{second(2), second(5)}));
  EXPECT_EQ(shared(late, early), (CountedSpan{second(2), second(5)}));
  EXPECT_EQ(shared(early, {}), early);
  EXPECT_EQ(shared({}, early), early);
  EXPECT_TRUE(shared({}, {}).is_whole());
}

TEST(CountedSpan, no_count_promises_more_than_the_run) {
  const CountsContext attached{
      .modules = {}, .counted = {.since = second(10)}, .started = second(10)};
  EXPECT_EQ(attached.kind(), "exact-since:0.000");
  EXPECT_EQ(attached.kind({.until = second(11)}), "exact-since:0.000,until:1.000");
  EXPECT_EQ(attached.kind({.since = second(11)}), "exact-since:1.000");
}

}  // namespace
}  // namespace sp::profiler
