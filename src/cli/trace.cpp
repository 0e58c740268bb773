#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "cli/read.h"
#include "cli/sizes.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

constexpr double kMostEvents = 1e9;
constexpr std::uint64_t kSmallestTrace = 100'000;  // bytes: names take some of them

Result<void> refuse_without_trace(const Arguments& given) {
  for (const char* of_trace : {"min-duration", "max-depth", "when-full", "wait-when-full", "buffer",
                               "trace-size", "filters", "attr-list", "via", "xray-id", "control",
                               "start-off", "dormant-after", "trigger", "learn", "keep-overhead"}) {
    constexpr auto kOfTreeToo =
        std::to_array<std::string_view>({"filters", "attr-list", "via", "xray-id", "control",
                                         "start-off", "dormant-after", "trigger"});
    const bool is_of_tree_too =
        std::find(kOfTreeToo.begin(), kOfTreeToo.end(), of_trace) != kOfTreeToo.end();
    if (given.has(of_trace) && !(is_of_tree_too && given.has("tree"))) {
      return fail(fmt::format("--{} is for --trace; add --trace, or leave it out", of_trace));
    }
  }
  return {};
}

Result<void> read_limits(const Arguments& given, TraceOptions& trace) {
  if (const auto value = given.last("min-duration")) {
    const auto time = parse_duration("--min-duration", *value, Unit::microseconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    trace.min_duration = *time;
  }
  if (const auto value = given.last("max-depth")) {
    const auto depth =
        parse_number("--max-depth", *value, 1, std::numeric_limits<std::uint32_t>::max());
    if (!depth) {
      return tl::unexpected(depth.error());
    }
    trace.max_depth = static_cast<std::uint32_t>(*depth);
  }
  if (const auto value = given.last("when-full")) {
    if (auto known = check_choice("when-full", *value); !known) {
      return known;
    }
    trace.when_full = *value == "flush"  ? core::WhenFull::flush
                      : *value == "keep" ? core::WhenFull::keep
                                         : core::WhenFull::discard;
  }
  trace.waits_when_full = given.has("wait-when-full");
  if (trace.waits_when_full && trace.when_full != core::WhenFull::flush) {
    return fail("--wait-when-full is for --when-full flush; leave out one of them");
  }
  if (const auto value = given.last("buffer")) {
    const auto events = parse_number("--buffer", *value, 1, kMostEvents);
    if (!events) {
      return tl::unexpected(events.error());
    }
    trace.buffer = static_cast<std::size_t>(*events);
  }
  if (const auto value = given.last("trace-size")) {
    const auto bytes = parse_size("--trace-size", *value, kSmallestTrace);
    if (!bytes) {
      return tl::unexpected(bytes.error());
    }
    trace.most_bytes = *bytes;
  }
  return {};
}

}  // namespace

Result<void> read_seen_calls(const Arguments& given, std::string_view option,
                             RecordOptions& options) {
  const char* const rival = given.has("single")                       ? "-s"
                            : options.coverage != core::Coverage::off ? "--coverage"
                            : options.trace                           ? "--trace"
                            : given.has("no-instrumentation")         ? "-n"
                                                                      : nullptr;
  if (rival != nullptr) {
    return fail(fmt::format("{} and {} exclude each other; keep one of them", option, rival));
  }
  options.filters = given.all("filters");
  options.attr_lists = given.all("attr-list");
  auto places = read_places(given);
  if (!places) {
    return tl::unexpected(places.error());
  }
  options.places = *std::move(places);
  // Who names functions by their ids wants their calls, all of them.
  options.allow_bottlenecking =
      options.allow_bottlenecking || (!options.places.xray_ids.empty() && !given.has("learn"));
  if (auto read = read_trace_control(given, options); !read) {
    return read;
  }
  for (const char* of_blocks : {"derive", "no-copies"}) {
    if (given.has(of_blocks)) {
      options.notes.push_back(
          fmt::format("--{}: no effect with {}, which counts no blocks", of_blocks, option));
    }
  }
  return {};
}

Result<void> read_trace_options(const Arguments& given, RecordOptions& options) {
  if (!given.has("trace")) {
    return refuse_without_trace(given);
  }
  if (auto read = read_seen_calls(given, "--trace", options); !read) {
    return read;
  }
  const bool has_room =
      !given.has("buffer") || given.last("when-full").value_or("flush") != "flush";
  if (!has_room) {
    return fail(
        "--buffer is for --when-full keep or discard; without it events are written as they come");
  }
  if (auto read = read_learn_options(given, options); !read) {
    return read;
  }
  return read_limits(given, options.trace.emplace());
}

}  // namespace sp::cli
