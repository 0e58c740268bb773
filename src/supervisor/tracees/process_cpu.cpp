#include "supervisor/tracees/process_cpu.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

std::int64_t ProcessCpu::children() const {
  if (children_of_ == 0) {
    return 0;
  }
  // The thread's file has the same as the process's, which adds up all threads first.
  const auto text = read_proc(fmt::format("/proc/{0}/task/{0}/stat", children_of_));
  const auto stat = text ? parse_stat(*text) : std::nullopt;
  static const std::int64_t tick = core::Duration{std::chrono::seconds(1)}.count() /
                                   std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  return stat ? static_cast<std::int64_t>(stat->children_cpu) * tick : 0;
}

}  // namespace sp::supervisor
