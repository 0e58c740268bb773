#include "supervisor/instruments/remove_copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// No other thread of the process can be in a copy: it was let go already, or does not run.
bool others_are_out(const Tracee& tracee) {
  const auto threads = list_threads(tracee.process->id.pid);
  return threads && std::all_of(threads->begin(), threads->end(), [&](pid_t tid) {
           const auto status = read_proc(fmt::format("/proc/{}/status", tid));
           const auto tracer = status ? status_field(*status, "TracerPid") : std::nullopt;
           const auto stat = read_stat(tid);
           return tid == tracee.id.tid || !stat || tracer == "0" || stat->state == 'S' ||
                  stat->state == 'D';
         });
}

}  // namespace

void remove_copies(BreakpointTable& code, const Tracee& tracee) {
  if (!code.xol().empty() && others_are_out(tracee)) {
    code.xol().remove(code.trap_handler().syscall_site, tracee.id.tid);
  }
}

}  // namespace sp::supervisor
