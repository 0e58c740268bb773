#include <memory>
#include <utility>

#include "core/log.h"
#include "supervisor/breakpoints/memory_origin.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/exact/exact_counter.h"
#include "supervisor/instruments/handler_masks.h"
#include "supervisor/instruments/sigtrap_action.h"

// Processes and threads that come and go.
namespace sp::supervisor {

using core::Address;

void ExactCounter::begin_process(TracedProcess& process, pid_t tid, bool from_start) {
  // Whoever has the same memory, and is not traced, would die at a breakpoint.
  const bool may_insert = from_start || !has_borrowed_memory(process.id.pid);
  process.code_state = std::make_shared<CountedCode>(
      process.id, tid, options_.inserts_breakpoints && may_insert, guardian_);
  inherit_action(process);
}

std::shared_ptr<InstrumentedCode> ExactCounter::copy_code(const TracedProcess& child, pid_t tid,
                                                          const ForkOrigin& origin) {
  return std::make_shared<CountedCode>(child.id, tid, static_cast<CountedCode&>(*origin.code),
                                       origin.insertions);
}

void ExactCounter::before_exec(Tracee& caller, pid_t tid) {
  counted_thread(caller).mask.restore(tid);
  caller.process->ignores_sigtrap = ignores_trap(*caller.process);
}

ForkOrigin ExactCounter::origin_of(const Tracee& parent) const {
  const CountedThread& thread = counted_thread(parent);
  return {std::static_pointer_cast<InstrumentedCode>(parent.process->code_state),
          thread.syscall ? thread.syscall->insertions : 0, thread.mask.blocks_trap(),
          thread.syscall && thread.syscall->clears_handlers, thread.collected_in};
}

void ExactCounter::add_thread(Tracee& tracee, bool counted) {
  auto thread = std::make_unique<CountedThread>();
  thread->counted = counted;
  thread->collects = !collect_.is_used();
  tracee.thread_state = std::move(thread);
}

void ExactCounter::inherit(Tracee& tracee, const ForkOrigin& origin) {
  CountedThread& thread = counted_thread(tracee);
  thread.mask.inherit_mask(tracee.id.tid, origin.blocks_trap);
  if (origin.collected_in && tracee.id.tid == tracee.process->id.pid) {
    thread.collected_in = origin.collected_in;
    thread.collects = true;
  }
}

void ExactCounter::begin_thread(Tracee& tracee, Address pc, core::TimePoint now) {
  CountedThread& thread = counted_thread(tracee);
  thread.begun = true;
  // Also for single steps, whose last trap nobody takes if we are killed.
  if (!counted_code(*tracee.process).trap_handler().tried) {
    install_handler(tracee);
  }
  const bool inherited = thread.mask.blocks_trap();
  (void)thread.mask.unblock(tracee.id.tid);
  thread.mask.inherit(inherited);
  flow_.enter(tracee, pc, now);
}

/// A stepped thread is in the stop of a SIGTRAP nearly all the time. If we were killed there, it
/// would get that signal, which a handler of its own would take for another one.
bool ExactCounter::is_let_go(Tracee& tracee) {
  CountedCode& code = counted_code(*tracee.process);
  if (options_.only_survivors && !code.trap_handler().tried) {
    install_handler(tracee);
    if (!code.trap_handler().is_installed) {
      code.let_go();
    }
  }
  tracee.let_go = tracee.let_go || code.is_let_go();
  return code.is_let_go();
}

void ExactCounter::install_handler(const Tracee& tracee) {
  CountedCode& code = counted_code(*tracee.process);
  flow_.read_maps(*tracee.process, tracee.id);
  install_trap_handler(code, tracee.id.tid);
  if (!code.trap_handler().is_installed && (code.may_insert() || options_.only_survivors)) {
    core::log_note("process {} {}: {}", tracee.process->id.pid, reason_for_no_breakpoints(code),
                   options_.only_survivors
                       ? "it is let go and not counted (count such a program from its start: -c)"
                       : "counting it by single steps, which is slower");
    code.disable();
  }
  syscalls_.insert_gates(tracee);
  unblock_in_handlers(code, tracee.id.tid);
}

}  // namespace sp::supervisor
