#include "supervisor/instruments/detach.h"

#include <fmt/format.h>

#include <algorithm>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/handler_masks.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// No other thread of the process can be in a relocated copy: it is detached already, or does not
/// run.
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

/// The thread still runs the SIGTRAP handler.
bool is_in_handler(InstrumentedCode& code, core::Address pc) {
  const TrapHandler& handler = code.trap_handler();
  return handler.page != core::Address{} && pc - handler.page < handler.size;
}

}  // namespace

bool show_mask(const InstrumentedCode& code, pid_t tid, bool was_stepped, SigtrapMask& mask) {
  const auto registers = mask.blocks_trap() ? ptrace::registers(tid) : core::fail("");
  if (registers && trap_is_pending(code, tid, arch::Native::pc(*registers), was_stepped)) {
    return false;
  }
  mask.show(tid);
  return true;
}

bool prepare_to_detach(InstrumentedCode& code, const Tracee& tracee, SigtrapMask& mask,
                       DetachStop stop) {
  const pid_t tid = tracee.id.tid;
  const auto registers = ptrace::registers(tid);
  const core::Address pc = registers ? arch::Native::pc(*registers) : core::Address{};
  if (registers && (trap_is_pending(code, tid, pc, stop.was_stepped) ||
                    (is_in_handler(code, pc) && ptrace::interrupt(tid)))) {
    return false;
  }
  if (stop.may_call) {
    if (has_memory_of_ours(*tracee.process) && postpone_calls(tid)) {
      return false;
    }
    if (others_are_out(tracee)) {
      if (!code.xol().empty()) {
        code.xol().remove(code.trap_handler().syscall_site, tid);
      }
      code.unmap_memory(tid);
    }
    give_back_handler_masks(code, tid);
    remove_trap_handler(code, tid);
  }
  mask.give_back(tid);
  return true;
}

void remove_from_child(InstrumentedCode& code, pid_t tid) {
  code.restore_all();
  code.xol().remove(code.trap_handler().syscall_site, tid);
  code.unmap_memory(tid);
  give_back_handler_masks(code, tid);
  remove_trap_handler(code, tid);
}

bool has_memory_of_ours(const TracedProcess& process) {
  const InstrumentedCode* const code = instrumented_code(process);
  return code != nullptr && code->trap_handler().page != core::Address{};
}

}  // namespace sp::supervisor
