#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sp::profiler {

/// What the kernel says of a process; nothing where it refuses.
struct ProcessMetrics {
  std::optional<std::uint64_t> cpu_user_us{};
  std::optional<std::uint64_t> cpu_system_us{};
  std::optional<std::uint64_t> rss_bytes{};
  std::optional<std::uint64_t> peak_rss_bytes{};
  std::optional<std::uint64_t> threads{};
  std::optional<std::uint64_t> switches{};              // voluntary ones, of its first thread
  std::optional<std::uint64_t> involuntary_switches{};  // likewise
  std::optional<std::uint64_t> read_bytes{};
  std::optional<std::uint64_t> write_bytes{};
};

/// From the texts of /proc/PID/stat, status and io (proc(5)).
[[nodiscard]] ProcessMetrics parse_metrics(std::string_view stat, std::string_view status,
                                           std::string_view io, long ticks_per_second);
[[nodiscard]] ProcessMetrics read_metrics(int pid);

}  // namespace sp::profiler
