#include <gtest/gtest.h>

#include <sstream>

#include "golden.h"
#include "profiler/formats/autofdo.h"

namespace sp::profiler {
namespace {

std::string written(const CountedSource& source) {
  std::ostringstream out;
  const bool was_written = write_autofdo(out, source);
  EXPECT_EQ(was_written, !out.str().empty());
  return out.str();
}

TEST(Autofdo, nests_inlined_calls_and_takes_the_largest_count_of_a_line) {
  const CountedSource source{"main",
                             1,
                             {{{{"", 4, 0}}, 100, {}},
                              {{{"", 4, 0}}, 120, {}},
                              {{{"", 4, 2}}, 60, {{"skip", 10}, {"parse", 50}}},
                              {{{"", 5, 0}, {"_Z7inlinedv", 1, 0}}, 1000, {}},
                              {{{"", 5, 0}, {"_Z7inlinedv", 2, 3}, {"deeper", 1, 0}}, 40, {}},
                              {{{"", 5, 1}, {"_Z7inlinedv", 1, 0}}, 7, {}},
                              {{{"", 6, 0}, {"never", 1, 0}}, 0, {}},
                              {{{"", 7, 0}}, 0, {}},
                              {{{"", 65535, 0}}, 9'007'199'254'740'993, {}}}};
  test::expect_golden("autofdo.afdo", written(source));
}

TEST(Autofdo, leaves_out_what_did_not_run) {
  EXPECT_EQ(written({"f", 0, {{{{"", 1, 0}}, 0, {}}}}), "");
  EXPECT_EQ(written({"f", 0, {}}), "");
}

TEST(Autofdo, leaves_out_names_that_would_break_a_line) {
  EXPECT_EQ(written({"a b", 1, {{{{"", 1, 0}}, 5, {}}}}), "");
  EXPECT_EQ(written({std::string("a\0b", 3), 1, {{{{"", 1, 0}}, 5, {}}}}), "");
  EXPECT_EQ(written({"f:g;\"", 1, {{{{"", 1, 0}}, 5, {{"a\nb", 5}}}}}), "f:g;\":5:1\n 1: 5\n");
  EXPECT_EQ(written({"f", 1, {{{{"", 1, 0}}, 5, {}}, {{{"", 2, 0}, {"a b", 1, 0}}, 9, {}}}}),
            "f:5:1\n 1: 5\n");
  const std::string huge(100 << 10, 'x');
  EXPECT_EQ(written({huge, 1, {{{{"", 1, 0}}, 5, {}}}}), huge + ":5:1\n 1: 5\n");
}

}  // namespace
}  // namespace sp::profiler
