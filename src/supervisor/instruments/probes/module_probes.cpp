#include "supervisor/instruments/probes/module_probes.h"

#include <utility>

#include "core/log.h"
#include "core/messages.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/module_scan.h"
#include "supervisor/instruments/probes/probed_thread.h"

namespace sp::supervisor {

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
  code.trap_handler().look_later(core::Clock::now());
  if (!process.from_start) {
    costs_.add_work(core::Clock::now() - begin);
  }
  update(process, tid, process.from_start ? When::at_start : When::at_attach);
  if (analysis_.wants_libraries()) {
    for (const core::Address event : scan->find_library_events(analysis_)) {
      code.insert_loader_breakpoint(event);
    }
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
  const auto scan = ModuleScan::read(process.id, tid);
  if (!scan) {
    return;
  }
  for (const core::AddressRange range : code.unmapped_modules(scan->maps())) {
    flush(process, {tid, 0});
    code.forget_module(range);
  }
  code.set_maps(scan->maps());
  const auto is_known = [&code](core::AddressRange range) { return code.is_instrumented(range); };
  bool told = false;
  for (const ScannedModule& module : scan->find_wanted(analysis_, is_known)) {
    if (!module.bias) {
      code.instrument_module({}, 0, module.range, {});  // not looked at again
      continue;
    }
    if (!std::exchange(told, true)) {
      // What is counted from now on is meant as these say.
      outbox_.deliver({process.id, {tid, 0}, begin, core::MappingSnapshot{scan->maps()}});
    }
    ProbedCode::Since since{core::Clock::now(), when != When::at_attach};
    if (when == When::at_start) {
      since.time.reset();
    }
    code.instrument_module(analysis_.plan(module.file), *module.bias, module.range, since);
    code.make_room_for_copies(module.range.begin, tid);
  }
  const core::Duration took = core::Clock::now() - begin;
  if (when != When::at_start) {
    costs_.add_work(took);  // before its first instruction nothing of the program's is delayed
  }
  next_look_ = core::Clock::now() + took * kShareOfTime;
}

void ModuleProbes::flush(const TracedProcess& process, core::ThreadId thread) {
  ProbedCode& code = probed_code(process);
  core::CodeProbed probed = code.take();
  if (!probed.blocks.empty() || !probed.edges.empty()) {
    outbox_.deliver({code.owner(), thread, core::Clock::now(), std::move(probed)});
  }
}

}  // namespace sp::supervisor
