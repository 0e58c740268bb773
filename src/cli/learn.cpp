#include <fmt/format.h>

#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {

using core::fail;
using core::Result;

Result<void> read_learn_options(const Arguments& given, RecordOptions& options) {
  const auto time = given.last("learn");
  if (!time) {
    return given.has("keep-overhead")
               ? fail("--keep-overhead is for --learn; add --learn 2s, or leave it out")
               : Result<void>{};
  }
  if (options.allow_bottlenecking) {
    return fail("-a and --learn exclude each other: -a keeps what --learn takes away");
  }
  const auto duration = parse_duration("--learn", *time, Unit::seconds);
  if (!duration) {
    return tl::unexpected(duration.error());
  }
  if (*duration <= Duration{}) {
    return fail("--learn: the time must be above 0, such as 2s");
  }
  LearnOptions learn{.time = *duration};
  if (const auto value = given.last("keep-overhead")) {
    constexpr double kMost = 100;
    const auto percent = parse_number("--keep-overhead", *value, 0, kMost);
    if (!percent) {
      return tl::unexpected(percent.error());
    }
    learn.keep_overhead_percent = *percent;
  }
  options.learn = learn;
  return {};
}

}  // namespace sp::cli
