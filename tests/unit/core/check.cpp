#include "core/check.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace sp::core {
namespace {

template <typename Exception>
void end_by(const Exception& thrown) {
  end_by_line_where_uncaught();
  std::thread([&thrown] { throw thrown; }).join();
}

TEST(UncaughtException, ends_superprofiler_with_one_line) {
  EXPECT_EXIT(end_by(std::bad_alloc()), testing::ExitedWithCode(125),
              "^superprofiler: cannot go on: no memory is left .*; the target is let go\n$");
  EXPECT_EXIT(
      end_by(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))),
      testing::ExitedWithCode(125),
      "^superprofiler: cannot go on: no thread can be started .*; the target is let go\n$");
  EXPECT_EXIT(end_by(std::runtime_error("what it says")), testing::ExitedWithCode(125),
              "^superprofiler: cannot go on: what it says; the target is let go\n$");
}

}  // namespace
}  // namespace sp::core
