#include "core/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace {

using sp::core::Error;
using sp::core::fail;
using sp::core::fail_errno;
using sp::core::Result;

TEST(Error, says_what_was_done_and_why_it_failed) {
  EXPECT_EQ((Error{"opening /proc/7/maps", EACCES}.message()),
            "opening /proc/7/maps: Permission denied");
  EXPECT_EQ((Error{"reading a line", 0}.message()), "reading a line");
}

TEST(Result, carries_the_error_of_the_last_call) {
  errno = ENOENT;
  const Result<int> result = fail_errno(std::string(1000, 'x'));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ENOENT);
}

TEST(Result, needs_no_errno) {
  const Result<int> result = fail("parsing");
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, 0);
}

}  // namespace
