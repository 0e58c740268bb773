#include <chrono>
#include <utility>

#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {

using core::Result;

Result<TopOptions> read_top(const Arguments& given) {
  constexpr Duration kShortest = std::chrono::milliseconds(50);
  auto run = read_live(given);
  if (!run) {
    return tl::unexpected(run.error());
  }
  TopOptions options;
  options.run = std::move(*run);
  options.run.no_instrumentation = !given.has("calls");
  if (!given.has("frequency")) {
    options.run.interval = std::chrono::milliseconds(1);
  }
  if (const auto value = given.last("interval")) {
    const auto time = parse_duration("-i", *value, Unit::seconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    if (*time < kShortest) {
      return core::fail("-i: the shortest time between two tables is 50ms");
    }
    options.interval = *time;
  }
  options.once = given.has("once");
  if (const auto sort = given.last("sort")) {
    const auto known = read_sort(*sort);
    if (!known) {
      return tl::unexpected(known.error());
    }
    options.sort = *known;
    if (options.sort == Sort::max) {
      return core::fail("top has no longest calls; --sort self, total or calls");
    }
  }
  if (options.sort == Sort::calls && options.run.no_instrumentation) {
    return core::fail("--sort calls needs --calls, which counts them");
  }
  return options;
}

}  // namespace sp::cli
