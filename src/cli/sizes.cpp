#include "cli/sizes.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace sp::cli {
namespace {

struct SizeUnit {
  std::string_view name;
  double factor;
};
constexpr std::array<SizeUnit, 9> kSizeUnits{{{"B", 1},
                                              {"kB", 1e3},
                                              {"KB", 1e3},
                                              {"MB", 1e6},
                                              {"GB", 1e9},
                                              {"TB", 1e12},
                                              {"KiB", 1024},
                                              {"MiB", 1024.0 * 1024},
                                              {"GiB", 1024.0 * 1024 * 1024}}};

}  // namespace

double bytes_in(std::string_view unit) {
  for (const SizeUnit& known : kSizeUnits) {
    if (known.name == unit) {
      return known.factor;
    }
  }
  return 0;
}

core::Result<std::uint64_t> parse_size(std::string_view option, std::string_view text,
                                       std::uint64_t least) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  const double bytes = unit.empty() ? number : number * bytes_in(unit);
  if (error != std::errc() || !(bytes >= 1) || bytes > 1e18) {
    return core::fail(fmt::format(
        "{}: '{}' is not a size; write a number with kB, MB, GB, KiB, MiB or GiB, such as 500MB",
        option, text));
  }
  if (bytes < static_cast<double>(least)) {
    return core::fail(fmt::format("{}: the smallest size is {} bytes", option, least));
  }
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace sp::cli
