#include "profiler/emitter/process_metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace sp::profiler {
namespace {

using Number = std::optional<std::uint64_t>;

Number number_at(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(begin);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? Number(value) : std::nullopt;
}

/// Of the line "KEY: NUMBER ..".
Number number_of(std::string_view text, std::string_view key) {
  const std::string line = fmt::format("{}:", key);
  std::size_t at = text.starts_with(line) ? 0 : text.find("\n" + line);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  at = text.find(':', at) + 1;
  return number_at(text.substr(at, text.find('\n', at) - at));
}

/// The field with the number that proc(5) gives it, from 3 on; the name in field 2 may hold blanks
/// and brackets.
Number field_of(std::string_view stat, int field) {
  std::size_t at = stat.rfind(')');
  for (int next = 2; next < field && at != std::string_view::npos; ++next) {
    at = stat.find(' ', at + 1);
  }
  return at == std::string_view::npos ? std::nullopt : number_at(stat.substr(at));
}

Number times(Number value, std::uint64_t factor) {
  return value ? Number(*value * factor) : std::nullopt;
}

std::string text_of(int pid, std::string_view file) {
  std::ifstream in(fmt::format("/proc/{}/{}", pid, file));
  std::ostringstream text;
  text << in.rdbuf();  // throws nothing where the kernel refuses to be read
  return text.str();
}

}  // namespace

ProcessMetrics parse_metrics(std::string_view stat, std::string_view status, std::string_view io,
                             long ticks_per_second) {
  constexpr int kUserTime = 14;
  constexpr int kSystemTime = 15;
  constexpr std::uint64_t kKibibyte = 1024;
  const auto tick_us = static_cast<std::uint64_t>(1'000'000 / ticks_per_second);
  return {times(field_of(stat, kUserTime), tick_us),
          times(field_of(stat, kSystemTime), tick_us),
          times(number_of(status, "VmRSS"), kKibibyte),
          times(number_of(status, "VmHWM"), kKibibyte),
          number_of(status, "Threads"),
          number_of(status, "voluntary_ctxt_switches"),
          number_of(status, "nonvoluntary_ctxt_switches"),
          number_of(io, "read_bytes"),
          number_of(io, "write_bytes")};
}

ProcessMetrics read_metrics(int pid) {
  return parse_metrics(text_of(pid, "stat"), text_of(pid, "status"), text_of(pid, "io"),
                       ::sysconf(_SC_CLK_TCK));
}

}  // namespace sp::profiler
