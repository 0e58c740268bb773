#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "cli/read.h"
#include "cli/sizes.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

constexpr Duration kShortestPeriod = std::chrono::milliseconds(10);
constexpr double kMostDescriptors = 1 << 20;

Result<void> refuse_without_tree(const Arguments& given) {
  for (const char* of_tree : {"emit", "emit-every", "emit-addresses", "emit-budget", "label"}) {
    const bool is_of_push = std::string_view(of_tree) == "label" && given.has("push");
    if (given.has(of_tree) && !is_of_push) {
      return fail(
          fmt::format("--{} sends the tree of --tree; add --tree, or leave it out", of_tree));
    }
  }
  return {};
}

Result<void> read_reader(const std::string& value, EmitTo& emit) {
  if (value.starts_with("unix:") && value.size() > 5) {
    emit.path = value.substr(5);
    if (emit.path.size() > kLongestSocketPath) {
      return fail(fmt::format("--emit: the path of a socket has at most {} bytes, this one {}",
                              kLongestSocketPath, emit.path.size()));
    }
    return {};
  }
  if (value.starts_with("fd:")) {
    const auto fd = parse_number("--emit fd:", value.substr(3), 0, kMostDescriptors);
    if (!fd) {
      return tl::unexpected(fd.error());
    }
    emit.fd = static_cast<int>(*fd);
    return {};
  }
  return fail(fmt::format(
      "--emit: '{}' is neither unix:PATH, a listening socket, nor fd:N, a connected one", value));
}

struct NamedFactor {
  std::string_view name;
  double factor;
};
constexpr std::array<NamedFactor, 4> kTimes{{{"s", 1}, {"min", 60}, {"h", 3600}, {"day", 86'400}}};

double seconds_in(std::string_view name) {
  for (const NamedFactor& row : kTimes) {
    if (row.name == name) {
      return row.factor;
    }
  }
  return 0;
}

/// "10MB/day"
Result<void> read_budget(std::string_view value, EmitTo& emit) {
  const std::size_t slash = value.find('/');
  const std::string_view size = value.substr(0, slash);
  double number = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  const auto unit = size.substr(static_cast<std::size_t>(end - size.data()));
  const double seconds = slash == std::string_view::npos ? 0 : seconds_in(value.substr(slash + 1));
  const double bytes = number * bytes_in(unit);
  if (error != std::errc() || seconds == 0 || !(bytes >= 1) || bytes > 1e18) {
    return fail(fmt::format(
        "--emit-budget: '{}' is not a size in a time, such as 10MB/day (B, kB, MB, GB, KiB, MiB; "
        "s, min, h, day)",
        value));
  }
  emit.budget_bytes = static_cast<std::uint64_t>(bytes);
  emit.budget_time = std::chrono::seconds(static_cast<std::int64_t>(seconds));
  return {};
}

Result<EmitTo> read_emit(const Arguments& given) {
  EmitTo emit;
  if (auto read = read_reader(*given.last("emit"), emit); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto value = given.last("emit-every")) {
    const auto time = parse_duration("--emit-every", *value, Unit::seconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    if (*time < kShortestPeriod) {
      return fail("--emit-every: the shortest period is 10ms");
    }
    emit.every = *time;
  }
  if (const auto value = given.last("emit-budget")) {
    if (auto read = read_budget(*value, emit); !read) {
      return tl::unexpected(read.error());
    }
  }
  emit.has_names = !given.has("emit-addresses");
  auto labels = read_labels(given);
  if (!labels) {
    return tl::unexpected(labels.error());
  }
  emit.labels = *std::move(labels);
  return emit;
}

}  // namespace

Result<void> read_tree_options(const Arguments& given, RecordOptions& options) {
  if (!given.has("tree")) {
    return refuse_without_tree(given);
  }
  if (auto read = read_seen_calls(given, "--tree", options); !read) {
    return read;
  }
  options.tree.emplace();
  if (given.has("emit")) {
    auto emit = read_emit(given);
    if (!emit) {
      return tl::unexpected(emit.error());
    }
    options.tree->emit = *std::move(emit);
    return {};
  }
  for (const char* of_emission : {"emit-every", "emit-addresses", "emit-budget", "label"}) {
    const bool is_of_push = std::string_view(of_emission) == "label" && given.has("push");
    if (given.has(of_emission) && !is_of_push) {
      return fail(
          fmt::format("--{} is for --emit; add --emit unix:PATH, or leave it out", of_emission));
    }
  }
  return {};
}

}  // namespace sp::cli
