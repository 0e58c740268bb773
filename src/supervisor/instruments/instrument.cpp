#include "supervisor/instruments/instrument.h"

#include "supervisor/breakpoints/memory_origin.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/instruments/trap_origin.h"

namespace sp::supervisor {

void Instrument::begin_child(TracedProcess& process, pid_t tid, const ForkOrigin& origin) {
  if (shares_memory(*origin.code, tid)) {
    process.code_state = origin.code;
  } else if (memory_origin(*origin.code, tid) == MemoryOrigin::before_handler) {
    begin_process(process, tid, false);
  } else {
    process.code_state = copy_code(process, tid, origin);
  }
  if (origin.clears_handlers) {
    (void)renew_trap_handler(*instrumented_code(process), tid);
  }
}

void Instrument::restore(const TracedProcess& process) {
  if (InstrumentedCode* const code = instrumented_code(process)) {
    code->restore_all();
  }
}

void Instrument::clean_child(TracedProcess& process, pid_t tid) {
  remove_from_child(*instrumented_code(process), tid);
  process.code_state = nullptr;
}

void Instrument::resume_to_detach(Tracee& tracee, int signal) {
  (void)ptrace::resume(tracee.id.tid, signal);
}

bool Instrument::on_retired_trap(const Tracee& tracee) {
  return retire_trap(*instrumented_code(*tracee.process), tracee.id.tid);
}

}  // namespace sp::supervisor
