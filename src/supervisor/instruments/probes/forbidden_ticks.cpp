#include "supervisor/instruments/probes/forbidden_ticks.h"

#include <signal.h>

#include <array>

#include "arch/native.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

bool is_by_reading_ticks(const Tracee& tracee) {
  using arch::Native;
  const auto& out = probed_thread(tracee).out_of_copy;
  const auto info = out ? ptrace::signal_info(tracee.id.tid) : core::fail("in no copy");
  if (!info || info->si_signo != SIGSEGV || info->si_code != SI_KERNEL) {
    return false;
  }
  // Inserted code has registers on the stack; the program's own instruction has not.
  std::array<std::byte, arch::kTicksInstruction.size()> bytes{};
  return Native::sp(out->inside) != Native::sp(out->outside) &&
         TargetMemory(tracee.id.tid).read(Native::pc(out->inside), bytes) &&
         bytes == arch::kTicksInstruction;
}

}  // namespace sp::supervisor
