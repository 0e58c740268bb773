#include <fmt/format.h>

#include <chrono>
#include <string>

#include "cli/read.h"
#include "cli/sizes.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

constexpr Duration kShortestPart = std::chrono::seconds(1);
constexpr std::uint64_t kSmallestPart = 100'000;  // bytes
constexpr double kMostKept = 1000;                // each has a descriptor

Result<SplitOptions> read_each(const std::string& text) {
  SplitOptions split;
  const std::size_t unit = text.find_first_not_of("0123456789.");
  if (unit == std::string::npos || unit == 0) {
    return fail(fmt::format(
        "--split: '{}' is neither a time nor a size; write one with its unit, 1h or 1GB", text));
  }
  if (bytes_in(text.substr(unit)) > 0) {
    const auto bytes = parse_size("--split", text, kSmallestPart);
    if (!bytes) {
      return tl::unexpected(bytes.error());
    }
    split.bytes = *bytes;
    return split;
  }
  const auto time = parse_duration("--split", text, Unit::seconds);
  if (!time) {
    return tl::unexpected(time.error());
  }
  if (*time < kShortestPart) {
    return fail("--split: the shortest part is 1s");
  }
  split.every = *time;
  return split;
}

/// Why what is recorded cannot be split; "": it can.
std::string why_not(const RecordOptions& options) {
  if (options.coverage != core::Coverage::off) {
    return "--split: a place is seen once in a run, not in each part; leave out --coverage";
  }
  if (options.tree) {
    return "--split: a tree is of the whole run; leave out --tree, or let --emit send it in parts";
  }
  if (options.single != Single::off && options.split->bytes > 0) {
    return "--split: with -s recording.sp is written when a part ends, so it has no size before; "
           "give a time, such as --split 1h";
  }
  return {};
}

}  // namespace

Result<void> read_split_options(const Arguments& given, RecordOptions& options) {
  if (!given.has("split")) {
    return given.has("split-keep") ? fail("--split-keep is for --split; add --split 1h or 1GB")
                                   : Result<void>{};
  }
  const auto split = read_each(*given.last("split"));
  if (!split) {
    return tl::unexpected(split.error());
  }
  options.split = *split;
  if (const auto value = given.last("split-keep")) {
    const auto keep = parse_number("--split-keep", *value, 1, kMostKept);
    if (!keep) {
      return tl::unexpected(keep.error());
    }
    options.split->keep = static_cast<std::size_t>(*keep);
  }
  if (const std::string why = why_not(options); !why.empty()) {
    return fail(why);
  }
  return {};
}

}  // namespace sp::cli
