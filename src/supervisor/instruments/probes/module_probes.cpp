#include "supervisor/instruments/probes/module_probes.h"

#include <signal.h>
#include <sys/mman.h>

#include <utility>
#include <vector>

#include "arch/native.h"
#include "core/log.h"
#include "core/messages.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/handler_masks.h"
#include "supervisor/instruments/module_scan.h"
#include "supervisor/instruments/probes/call_counter.h"
#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/ifuncs.h"
#include "supervisor/instruments/probes/open_functions.h"
#include "supervisor/instruments/probes/probe_maintenance.h"
#include "supervisor/instruments/probes/probed_modules.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/probes/written_probes.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

/// So that each gets a stop, in which SIGTRAP is unblocked, before it comes to a breakpoint.
void stop_threads_that_block_trap(const Tracee& tracee) {
  const auto threads = list_threads(tracee.process->id.pid);
  for (const pid_t tid : threads ? *threads : std::vector<pid_t>{}) {
    const auto masks = tid != tracee.id.tid ? read_signal_masks(tid) : std::nullopt;
    if (masks && (masks->blocked & signal_bit(SIGTRAP)) != 0) {
      (void)ptrace::interrupt(tid);
    }
  }
}

}  // namespace

void ModuleProbes::begin(Tracee& tracee) {
  TracedProcess& process = *tracee.process;
  ProbedCode& code = probed_code(process);
  const pid_t tid = tracee.id.tid;
  const core::TimePoint begin = core::Clock::now();
  const auto scan = ModuleScan::read(process.id, tid);
  if (!scan) {
    return;
  }
  code.set_maps(scan->maps());
  code.register_memory();
  install_trap_handler(code, tid);
  if (!code.trap_handler().is_installed) {
    code.disable();
    core::log_note("process {} {}: it is only sampled", process.id.pid,
                   reason_for_no_breakpoints(code));
    return;
  }
  if (scan->runs_in_valgrind()) {
    core::log_note("process {} runs in valgrind, which reads its code: nothing is counted there",
                   process.id.pid);
  }
  code.trap_handler().look_later(core::Clock::now());
  const bool has_gates = insert_first_gates(tracee, *scan);
  unblock_in_handlers(code, tid);
  charge(process, core::Clock::now() - begin);
  update(process, tid, process.from_start ? When::at_start : When::at_attach);
  const core::TimePoint updated = core::Clock::now();
  const bool traces = code.trace() && code.trace()->recorder != nullptr;
  if (!process.from_start && (traces || code.coverage() != nullptr)) {
    instrument_open_functions(code, tracees_, tracee);
  }
  watch_loader(code, *scan, has_gates);
  charge(process, core::Clock::now() - updated);
}

void ModuleProbes::watch_loader(ProbedCode& code, const ModuleScan& scan, bool has_gates) {
  if (analysis_.wants_libraries() || !has_gates) {
    for (const core::Address event : scan.find_library_events(analysis_)) {
      insert_loader_breakpoint(code, event);
    }
  }
  if (analysis_.wants_libraries()) {
    insert_mapping_gates(code, scan.find_mapping_calls());
  }
}

bool ModuleProbes::begin_again(Tracee& tracee) {
  TracedProcess& process = *tracee.process;
  ProbedCode& code = probed_code(process);
  const pid_t tid = tracee.id.tid;
  const core::TimePoint begin = core::Clock::now();
  const auto scan = ModuleScan::read(process.id, tid);
  if (!scan) {
    return true;  // it is gone
  }
  if (!renew_trap_handler(code, tid)) {
    return false;
  }
  code.set_maps(scan->maps());
  // What handlers do with SIGTRAP may have changed.
  code.signal_handlers().begin_again();
  const bool has_gates = insert_first_gates(tracee, *scan);
  unblock_in_handlers(code, tid);
  (void)unblock_trap(process, tid, probed_thread(tracee));
  costs_.add_work(core::Clock::now() - begin);
  update(process, tid, When::at_attach);
  watch_loader(code, *scan, has_gates);
  return true;
}

/// The budget is for what probes cost once the program runs.
void ModuleProbes::charge(const TracedProcess& process, core::Duration cost) {
  if (process.from_start) {
    costs_.add_preparation(cost);
  } else {
    costs_.add_work(cost);
  }
}

/// A thread that blocks SIGTRAP must not meet a breakpoint: for the kernel that would reset the
/// handler, without which the next breakpoint kills the target once we are dead. So the threads are
/// held until they block it no more and gates tell when they are about to.
bool ModuleProbes::insert_first_gates(const Tracee& tracee, const ModuleScan& scan) {
  const TracedProcess& process = *tracee.process;
  if (process.threads <= 1) {
    return insert_gates(process, scan);
  }
  (void)gates_.find_mask_changes(scan);  // takes time the first time
  stop_threads_that_block_trap(tracee);
  auto world = WorldStop::stop(tracees_, tracee, kLongestWorldStop);
  if (!world) {
    core::log_note("process {}: threads could not be held: {}", process.id.pid,
                   world.error().message());
    return insert_gates(process, scan);
  }
  unblock_trap_in(*world);
  const bool are_complete = insert_gates(process, scan);
  (void)world->stop_woken(kLongestWorldStop);
  unblock_trap_in(*world);
  return are_complete;
}

void ModuleProbes::unblock_trap_in(const WorldStop& world) {
  for (const HeldThread& held : world.threads()) {
    Tracee* const tracee = tracees_.find(held.tid);
    if (tracee != nullptr && tracee->thread_state != nullptr) {
      ProbedThread& thread = probed_thread(*tracee);
      (void)unblock_trap(*tracee->process, held.tid, thread);
      if (probed_code(*tracee->process).signal_handlers().are_told()) {
        thread.mask.set_changes(MaskChanges::seen);
      }
    }
  }
}

bool ModuleProbes::insert_gates(const TracedProcess& process, const ModuleScan& scan) {
  ProbedCode& code = probed_code(process);
  const bool are_complete = gates_.insert(code, scan);
  if (code.trace()) {
    code.insert_all(code.removed_gates());
  }
  if (are_complete) {
    code.signal_handlers().begin();
  }
  return are_complete;
}

void ModuleProbes::on_mapping(TracedProcess& process, pid_t tid,
                              const ptrace::Registers& registers) {
  if ((arch::NativeTrapHandler::next_call(registers).arguments[2] & PROT_EXEC) != 0) {
    on_library_event(process, tid, When::at_mapping);
  }
}

void ModuleProbes::on_library_event(TracedProcess& process, pid_t tid, When when) {
  ProbedCode& code = probed_code(process);
  if (!code.signal_handlers().are_told()) {
    const core::TimePoint begin = core::Clock::now();
    const auto scan = ModuleScan::read(process.id, tid);
    if (scan) {
      code.set_maps(scan->maps());
    }
    if (scan && insert_gates(process, *scan) && !analysis_.wants_libraries()) {
      remove_loader_breakpoint(code);
    }
    costs_.add_work(core::Clock::now() - begin);
  }
  if (analysis_.wants_libraries()) {
    update(process, tid, when);
  }
}

void ModuleProbes::look_again(TracedProcess& process, pid_t tid) {
  if (analysis_.wants_libraries() && !probed_code(process).has_loader_breakpoint() &&
      core::Clock::now() >= next_look_) {
    update(process, tid, When::at_attach);
  }
}

void ModuleProbes::update(TracedProcess& process, pid_t tid, When when) {
  constexpr int kShareOfTime = 32;
  const core::TimePoint begin = core::Clock::now();
  ProbedCode& code = probed_code(process);
  const bool counts_calls = code.trace() && code.trace()->calls != nullptr;
  const auto scan = ModuleScan::read(process.id, tid);
  if (!scan) {
    return;
  }
  const auto unmapped = code.unmapped_modules(scan->maps());
  bool told = false;
  // What is counted from now on is meant as these say, what was counted before as the last.
  const auto tell_maps = [&] {
    if (!std::exchange(told, true)) {
      flush(process, {tid, 0});
      core::MappingSnapshot mapped{scan->maps(), analysis_.wants_libraries()};
      outbox_.deliver({process.id, {tid, 0}, begin, std::move(mapped)});
    }
  };
  for (const core::AddressRange range : unmapped) {
    code.end_module(range);
  }
  for (const core::AddressRange range : unmapped) {
    tell_maps();
    code.forget_module(range);
  }
  if (std::uint64_t& before = code.functions().files_told(); before != scan->files()) {
    before = scan->files();
    tell_maps();  // also of files without probes, to which counted code may lead
  }
  code.set_maps(scan->maps());
  code.functions().end_writes(scan->maps());
  const auto is_known = [&code](core::AddressRange range) { return code.is_instrumented(range); };
  for (const ScannedModule& module : scan->find_wanted(analysis_, is_known)) {
    if (!module.bias) {
      instrument_module(code, {}, 0, module.range, {});  // not looked at again
      continue;
    }
    tell_maps();
    ProbedCode::Since since{core::Clock::now(), when != When::at_attach};
    if (when == When::at_start || (counts_calls && when == When::at_load) ||
        (when == When::at_mapping && (process.from_start || counts_calls))) {
      since.time.reset();
    }
    instrument_module(code, analysis_.plan(module.file), *module.bias, module.range, since,
                      module.file);
    code.make_room_for_copies(module.range.begin, tid);
  }
  find_resolved(code, *scan);
  const core::Duration took = core::Clock::now() - begin;
  if (when == When::at_start || counts_calls) {
    costs_.add_preparation(took);  // done once, however often functions are called
  } else {
    costs_.add_work(took);
  }
  next_look_ = core::Clock::now() + took * kShareOfTime;
}

void ModuleProbes::flush(const TracedProcess& process, core::ThreadId thread,
                         std::span<const core::AddressRange> read_again) {
  ProbedCode& code = probed_code(process);
  end_overwritten(code, core::Clock::now(), read_again);
  if (code.trace() && code.trace()->calls != nullptr) {
    code.trace()->calls->flush(code);
  } else if (code.trace()) {
    code.trace()->recorder->flush(code);
  }
  core::CodeProbed probed = code.take(process.threads == 0);
  charge_copies(process);
  if (!probed.blocks.empty() || !probed.edges.empty() || !probed.functions.empty()) {
    outbox_.deliver({code.owner(), thread, core::Clock::now(), std::move(probed)});
  }
}

void ModuleProbes::charge_copies(const TracedProcess& process) {
  const CopyUse use = probed_code(process).take_copy_use();
  executions_in_copies_ += use.executions;
  branches_in_copies_ += use.branches;
  arrivals_in_copies_ += use.arrivals;
  transfers_in_copies_ += use.transfers;
  costs_.add_copies(use.cost);
}

}  // namespace sp::supervisor
