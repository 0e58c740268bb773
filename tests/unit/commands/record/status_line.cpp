#include "commands/record/status_line.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sp::record {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(StatusText, says_what_the_run_has_done_so_far) {
  const StatusNumbers numbers{milliseconds(12340), 45678, 0, 0, 4.06, microseconds(200), 0};
  EXPECT_EQ(status_text(numbers, 100), "12.3 s  45,678 samples  every 200 us  overhead 4.1 %");
}

TEST(StatusText, says_how_many_functions_run_from_copies) {
  StatusNumbers numbers{milliseconds(1000), 10, 0, 0, 4, microseconds(200), 12};
  EXPECT_EQ(status_text(numbers, 100),
            "1.0 s  10 samples  every 200 us  12 functions from copies  overhead 4.0 %");
  numbers.copies = 1;
  EXPECT_EQ(status_text(numbers, 100),
            "1.0 s  10 samples  every 200 us  1 function from copies  overhead 4.0 %");
}

TEST(StatusText, says_what_is_blocked_and_lost_and_keeps_to_the_line) {
  const StatusNumbers numbers{milliseconds(1000), 10, 3, 7, 4, {}, 0};
  EXPECT_EQ(status_text(numbers, 100), "1.0 s  10 samples (3 blocked)  overhead 4.0 %  7 lost");
  EXPECT_EQ(status_text(numbers, 11), "1.0 s  10 ");
}

}  // namespace
}  // namespace sp::record
