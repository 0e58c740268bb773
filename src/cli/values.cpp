#include "cli/values.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <regex>
#include <utility>

namespace sp::cli {
namespace {

using core::Duration;
using core::fail;
using core::Result;

struct Suffix {
  std::string_view text;
  double nanoseconds;
};
constexpr std::array<Suffix, 9> kSuffixes = {{{"ns", 1},
                                              {"us", 1e3},
                                              {"\xC2\xB5s", 1e3},  // the micro sign
                                              {"ms", 1e6},
                                              {"s", 1e9},
                                              {"m", 60e9},
                                              {"min", 60e9},
                                              {"h", 3600e9},
                                              {"d", 24 * 3600e9}}};
constexpr double kYear = 365.0 * 24 * 3600 * 1e9;
constexpr std::int64_t kPidMaxLimit = 1 << 22;

// The number at the start of `text`, and the rest. Signs, "inf" and "nan" are not numbers.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  if (text.empty() || !(text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) {
    return std::nullopt;
  }
  return std::pair(value, text.substr(static_cast<std::size_t>(end - text.data())));
}

std::optional<double> nanoseconds_in(std::string_view suffix, Unit unit) {
  if (suffix.empty()) {
    return unit == Unit::seconds ? 1e9 : 1e3;
  }
  for (const Suffix& known : kSuffixes) {
    if (known.text == suffix) {
      return known.nanoseconds;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<Duration> parse_duration(std::string_view option, std::string_view text, Unit unit) {
  const auto number = leading_number(text);
  const auto scale = number ? nanoseconds_in(number->second, unit) : std::nullopt;
  if (!scale) {
    return fail(fmt::format(
        "{}: '{}' is not a time; write a number with ns, us, ms, s, m, h or d, "
        "such as {}",
        option, text, unit == Unit::seconds ? "30s (30 means 30s)" : "100us (100 means 100us)"));
  }
  const double nanoseconds = number->first * *scale;
  if (nanoseconds > kYear) {
    return fail(fmt::format("{}: '{}' is more than a year; give a shorter time", option, text));
  }
  return Duration(static_cast<Duration::rep>(std::llround(nanoseconds)));
}

Result<double> parse_number(std::string_view option, std::string_view text, double least,
                            double most) {
  const auto number = leading_number(text);
  if (!number || !number->second.empty() || number->first < least || number->first > most) {
    return fail(fmt::format("{}: '{}' is not a number from {} to {}; give one in this range",
                            option, text, least, most));
  }
  return number->first;
}

Result<pid_t> parse_pid(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 ||
      value > kPidMaxLimit) {
    return fail(
        fmt::format("-p: '{}' is not a process id; give one number from 1 to {}, such as "
                    "pgrep prints: -p \"$(pgrep -n NAME)\"",
                    text, kPidMaxLimit));
  }
  return static_cast<pid_t>(value);
}

std::vector<std::string> split_list(std::string_view text) {
  if (text.size() >= 2 && text.front() == '/' && text.back() == '/' &&
      text.substr(1, text.size() - 2).find("/,") == std::string_view::npos) {
    return {std::string(text)};
  }
  std::vector<std::string> names(1);
  int depth = 0;
  bool in_regex = false;
  for (const char c : text) {
    if (c == '/' && names.back().empty()) {
      in_regex = true;
    } else if (c == '/') {
      in_regex = false;
    }
    if (!in_regex) {
      depth += std::string_view("(<[{").find(c) != std::string_view::npos ? 1 : 0;
      depth -= std::string_view(")>]}").find(c) != std::string_view::npos ? 1 : 0;
    }
    if (c == ',' && depth == 0 && !in_regex) {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  if (depth != 0) {
    return {std::string(text)};
  }
  std::erase_if(names, [](const std::string& name) { return name.empty(); });
  return names;
}

Result<void> check_function_pattern(std::string_view text, std::string_view option) {
  if (text.size() < 2 || text.front() != '/' || text.back() != '/') {
    return {};
  }
  try {
    const std::regex regex(std::string(text.substr(1, text.size() - 2)));
  } catch (const std::regex_error& error) {
    return fail(
        fmt::format("{}: '{}' is not a regular expression ({}); fix it, or write a name or a glob",
                    option, text, error.what()));
  }
  return {};
}

}  // namespace sp::cli
