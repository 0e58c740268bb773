#include "supervisor/instruments/exact/exact_counter.h"

#include <fmt/format.h>
#include <signal.h>

#include <utility>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/breakpoints/edge_flow.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/breakpoints/trap_handler.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;
using core::EdgeFlow;

}  // namespace

ExactCounter::ExactCounter(ExactOptions options, Outbox& outbox, Guardian& guardian)
    : options_(options), outbox_(outbox), guardian_(guardian) {}

void ExactCounter::begin_process(TracedProcess& process, pid_t tid) {
  process.counted = std::make_shared<CountedCode>(process.id, tid, options_.plants, guardian_);
}

bool ExactCounter::begin_thread(Tracee& tracee, core::TimePoint now) {
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers) {
    return false;
  }
  const Address pc = Native::pc(*registers);
  if (trap_is_pending(tracee, pc)) {
    return false;
  }
  tracee.counted.begun = true;
  CountedCode& code = *tracee.process->counted;
  // Where some sequences cannot be stepped through, their copies have breakpoints.
  if ((code.plants() || Native::kLongestAtomicSequence > 0) && !code.rescue().tried) {
    read_maps(*tracee.process, tracee.id);
    install_rescue(code, tracee.id.tid);
    if (code.plants() && !code.rescue().handler_is_ours) {
      code.plant_nothing();
      core::log_note("process {} {}: counting it by single steps, which is slower",
                     tracee.process->id.pid, reason_for_no_breakpoints(code));
    }
  }
  const bool inherited = tracee.counted.blocks_trap;
  unblock_trap(tracee);
  tracee.counted.blocks_trap = tracee.counted.blocks_trap || inherited;
  enter(tracee, pc, now);
  return true;
}

bool ExactCounter::on_trap(Tracee& tracee, core::TimePoint now) {
  const pid_t tid = tracee.id.tid;
  CountedThread& thread = tracee.counted;
  auto registers = ptrace::registers(tid);
  if (!registers) {
    (void)ptrace::resume(tid, 0);  // it was killed
    return true;
  }
  ++stops_;
  const Address pc = Native::pc(*registers);
  const Address trap = Native::breakpoint_of_trap(pc);
  CountedCode& code = *tracee.process->counted;
  Site* const site = code.planted_at(trap);
  // Behind a longer instruction's first byte no other one begins, so that only a breakpoint can
  // have brought the thread there.
  if (site != nullptr && site->instruction.length > Native::kBreakpoint.size()) {
    on_breakpoint(tracee, *site, *registers, now);
    return true;
  }
  const auto info = ptrace::signal_info(tid);
  if (!info) {
    (void)ptrace::resume(tid, 0);
    return true;
  }
  if (Native::is_breakpoint_code(info->si_code) && site != nullptr) {
    on_breakpoint(tracee, *site, *registers, now);
    return true;
  }
  if (turn_back(code, tid, *registers, info->si_code)) {
    resume(tracee, 0);
    return true;
  }
  // The kernel reports a handler's first instruction with the signal's number for a code.
  if (info->si_code == SIGTRAP && thread.delivering) {
    on_handler_entry(tracee, pc, now);
    return true;
  }
  if (Native::is_step_code(info->si_code) &&
      (thread.stepped || thread.delivering || thread.aside)) {
    on_step(tracee, *registers, now);
    return true;
  }
  // Of a step that nobody waits for any more: it would kill the target. A program that steps itself
  // has a handler of its own, and gets its last trap when it has cleared the flag.
  if (Native::is_step_code(info->si_code) && code.rescue().handler_is_ours &&
      !Native::steps_itself(*registers)) {
    resume(tracee, 0);
    return true;
  }
  return false;
}

void ExactCounter::on_breakpoint(Tracee& tracee, Site& site, ptrace::Registers& registers,
                                 core::TimePoint now) {
  CountedThread& thread = tracee.counted;
  thread.delivering = false;
  const Address at = site.instruction.address;
  const Address trap = Native::pc(registers);
  Native::set_pc(registers, at);
  if (!thread.begun) {
    thread.begun = true;
    enter(tracee, at, now);
  }
  if (site.instruction.flow == core::Flow::syscall) {
    (void)ptrace::mark_trap(tracee.id.tid, trap);
    on_gate(tracee, site, registers);
    return;
  }
  if (thread.aside && thread.aside->end_of_sequence) {
    (void)ptrace::mark_trap(tracee.id.tid, trap);
    come_out_of_sequence(tracee, site, registers, now);
    go(tracee);
    return;
  }
  ThreadMemory memory(tracee.id.tid);
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    (void)ptrace::mark_trap(tracee.id.tid, trap);
    if (!run_sequence(tracee, registers)) {
      step_aside(tracee, site, registers);
    }
    return;
  }
  const Address to = Native::pc(registers);
  (void)ptrace::mark_trap(tracee.id.tid, trap);
  for (const Site::Way& way : site.ways) {
    if (way.edge != nullptr && way.to == to && thread.counted) {
      EdgeCounts::count(*way.edge, now);
      thread.stepped = false;
      (void)ptrace::set_registers(tracee.id.tid, registers);
      (void)ptrace::resume_to_syscall(tracee.id.tid, 0);
      return;
    }
  }
  EdgeCounts::Edge* const edge = cross(tracee, at, to, edge_flow(site.instruction, to), now);
  if (edge != nullptr) {
    site.ways[site.oldest_way] = {to, edge};
    site.oldest_way ^= 1U;
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  go(tracee);
}

void ExactCounter::on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now) {
  const Address pc = Native::pc(registers);
  CountedThread& thread = tracee.counted;
  thread.delivering = false;
  if (thread.aside) {
    if (tracee.process->counted->copies().at(pc)) {
      (void)ptrace::step(tracee.id.tid, 0);
      return;
    }
    const Address at = thread.aside->site;
    finish_aside(tracee);
    Site* const site = tracee.process->counted->planted_at(at);
    cross(tracee, at, pc, site != nullptr ? edge_flow(site->instruction, pc) : EdgeFlow::indirect,
          now);
  } else if (thread.stepped) {
    const std::optional<core::Instruction> done = thread.next;
    if (done) {
      hide_step(tracee, *done, registers);
    }
    if (done && core::ends_block(done->flow)) {
      cross(tracee, done->address, pc, edge_flow(*done, pc), now);
    } else if (done && (pc == done->next() || pc == done->address)) {
      thread.next = tracee.process->counted->decode(pc);  // or one more round of a rep
    } else {
      enter(tracee, pc, now);
    }
  }
  go(tracee);
}

void ExactCounter::hide_step(const Tracee& tracee, const core::Instruction& done,
                             ptrace::Registers& registers) {
  std::array<std::byte, kLongestCode> bytes{};
  const std::size_t size = tracee.process->counted->code_at(done.address, bytes);
  ThreadMemory memory(tracee.id.tid);
  if (Native::hide_step(std::span(bytes).first(size), registers, memory)) {
    (void)ptrace::set_registers(tracee.id.tid, registers);
  }
}

void ExactCounter::on_handler_entry(Tracee& tracee, Address pc, core::TimePoint now) {
  constexpr std::size_t kDeepest = 64;
  CountedThread& thread = tracee.counted;
  thread.delivering = false;
  if (thread.interrupted.size() == kDeepest) {
    thread.interrupted.erase(thread.interrupted.begin());  // handlers that are left by longjmp
  }
  thread.interrupted.push_back({thread.interrupted_at, thread.stepped});
  unblock_trap(tracee);
  enter(tracee, pc, now);
  go(tracee);
}

EdgeCounts::Edge* ExactCounter::cross(Tracee& tracee, Address from, Address to, EdgeFlow flow,
                                      core::TimePoint now) {
  CountedThread& thread = tracee.counted;
  CountedCode& code = *tracee.process->counted;
  const Run& run = arrive(tracee, to);
  thread.stepped = run.stepped;
  if (run.stepped) {
    thread.next = code.decode(to);
  }
  if (run.lengths.empty() || !thread.counted) {
    return nullptr;  // what is no code is not executed: the next that comes is a signal
  }
  EdgeCounts::Edge& edge = code.edges().at(from, to, flow);
  EdgeCounts::count(edge, now);
  return run.stepped ? nullptr : &edge;
}

void ExactCounter::enter(Tracee& tracee, Address pc, core::TimePoint now) {
  cross(tracee, pc, pc, EdgeFlow::entry, now);
}

Run& ExactCounter::arrive(Tracee& tracee, Address to) {
  CountedCode& code = *tracee.process->counted;
  Run* const known = code.find(to);
  if (known != nullptr && !known->stepped) {
    return *known;
  }
  if (code.needs_maps(to)) {
    read_maps(*tracee.process, tracee.id);
  }
  return code.arrive(to);
}

void ExactCounter::read_maps(const TracedProcess& process, core::ThreadId thread) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", thread.tid));
  if (!text || text->empty()) {
    return;
  }
  send_counts(process, thread);  // they mean what the maps said until now
  core::MappingSnapshot mapped{core::parse_maps(*text)};
  process.counted->set_maps(mapped.maps);
  outbox_.deliver({process.counted->owner(), thread, core::Clock::now(), std::move(mapped)});
}

void ExactCounter::send_counts(const TracedProcess& process, core::ThreadId thread) {
  core::CodeCounted counted = process.counted->take();
  if (!counted.runs.empty() || !counted.edges.empty()) {
    outbox_.deliver({process.counted->owner(), thread, core::Clock::now(), std::move(counted)});
  }
}

}  // namespace sp::supervisor
