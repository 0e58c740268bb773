#pragma once

#include <atomic>
#include <cstdint>

namespace sp::supervisor {

/// Numbers of the sampling thread. The timer thread writes, any thread reads.
struct TickCounts {
  std::atomic<std::uint64_t> ticks{0};
  std::atomic<std::uint64_t> while_in_flight{0};  // scans that found a thread's last stop pending
  std::atomic<std::int64_t> ticking{0};           // nanoseconds that sampling was on
  std::atomic<std::int64_t> target_cpu{0};        // nanoseconds; the ptrace thread adds to it, too
};

}  // namespace sp::supervisor
