#include "supervisor/instruments/probes/probe_counter.h"

#include <signal.h>

#include <array>
#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/edge_flow.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

constexpr std::uint64_t kHitsBetweenLooks = 32;

}  // namespace

ProbeCounter::ProbeCounter(ProbeOptions options, Outbox& outbox, Guardian& guardian,
                           CostMeter& meter, SampleTimer& timer)
    : options_(options),
      outbox_(outbox),
      guardian_(guardian),
      meter_(meter),
      timer_(timer),
      budget_(options.overhead_percent) {}

bool ProbeCounter::on_trap(Tracee& tracee, core::TimePoint now) {
  const pid_t tid = tracee.id.tid;
  ProbedThread& thread = tracee.probed;
  const bool was_stepped = std::exchange(thread.was_stepped, false);
  auto registers = ptrace::registers(tid);
  if (!registers) {
    (void)ptrace::resume(tid, 0);  // it was killed
    return true;
  }
  const Address pc = Native::pc(*registers);
  const Address trap = Native::breakpoint_of_trap(pc);
  ProbedCode& code = *tracee.process->probed;
  BreakpointSite* const site = code.inserted_at(trap);
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
  if (adjust_pc_after_breakpoint(code, tid, *registers, info->si_code)) {
    go(tracee);
    return true;
  }
  if (Native::is_step_code(info->si_code) && (thread.aside || thread.window)) {
    on_step(tracee, *registers, now);
    return true;
  }
  if (Native::is_step_code(info->si_code) && was_stepped) {
    go(tracee);  // what stopped it has ended the window
    return true;
  }
  return false;
}

void ProbeCounter::on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                                 core::TimePoint now) {
  const Address at = site.instruction.address;
  const Address trap = Native::pc(registers);
  ProbedCode& code = *tracee.process->probed;
  Native::set_pc(registers, at);
  (void)ptrace::mark_trap(tracee.id.tid, trap);
  if (code.is_in_loader_function(at)) {
    watch_modules(*tracee.process, tracee.id.tid, When::at_load);
  }
  if (site.block == BreakpointSite::kNoBlock) {
    on_entry(tracee, site, registers);
    hit_is_over(tracee, now);
    return;
  }
  if (site.block == BreakpointSite::kMapsChanged) {
    pass_loader(tracee, site, registers);
    return;
  }
  ThreadMemory memory(tracee.id.tid);
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    step_aside(tracee, site, registers, now);
    hit_is_over(tracee, now);
    return;
  }
  const Address to = Native::pc(registers);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  pass(tracee, site, now);
  cross(tracee, site, to, now);
  if (!tracee.probed.window || note_step(tracee, to)) {
    go(tracee);
  }
  hit_is_over(tracee, now);
}

void ProbeCounter::pass(Tracee& tracee, BreakpointSite& site, core::TimePoint now) {
  ProbedCode& code = *tracee.process->probed;
  ProbedCode::Block& block = code.block_of(site);
  if (!tracee.probed.counted) {
    code.note_uncounted_execution(block);
    return;
  }
  code.count(block, now);
  hits_.fetch_add(1, std::memory_order_relaxed);
}

/// Control comes to a function that is not mapped yet.
void ProbeCounter::on_entry(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers) {
  ProbedCode& code = *tracee.process->probed;
  const Address at = site.instruction.address;
  if (!options_.keep_hot && is_exceeded()) {
    code.disarm_entries();
  } else {
    map(code, at, std::nullopt);
  }
  if (BreakpointSite* const left = code.inserted_at(at);
      left != nullptr && left->block == BreakpointSite::kNoBlock) {
    (void)code.remove(*left);  // not in a function any more
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  go(tracee);
}

void ProbeCounter::pass_loader(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers) {
  ThreadMemory memory(tracee.id.tid);
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    (void)tracee.process->probed->remove(site);
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  go(tracee);
}

/// Counts where the probe's instruction has sent the thread, and sees to what is there.
void ProbeCounter::cross(Tracee& tracee, BreakpointSite& site, Address to, core::TimePoint now) {
  if (!core::ends_block(site.instruction.flow)) {
    return;
  }
  const bool counted = tracee.probed.counted;
  for (const BreakpointSite::Way& way : site.ways) {
    if (way.edge != nullptr && way.to == to) {
      if (counted) {
        EdgeCounts::count(*way.edge, now);
      }
      return;
    }
  }
  ProbedCode& code = *tracee.process->probed;
  if (code.needs_instrumentation(to) && (options_.keep_hot || !is_exceeded())) {
    const Address from = site.instruction.address;
    map(code, to, std::nullopt);
    if (code.inserted_at(from) != &site) {
      return;
    }
  }
  EdgeCounts::Edge& edge =
      code.edges().at(site.instruction.address, to, edge_flow(site.instruction, to));
  if (counted) {
    EdgeCounts::count(edge, now);
  }
  // With a way in mind nothing is looked up any more.
  if (!code.needs_instrumentation(to)) {
    site.ways[site.oldest_way] = {to, &edge};
    site.oldest_way ^= 1U;
  }
}

void ProbeCounter::on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now) {
  const Address pc = Native::pc(registers);
  if (tracee.probed.aside) {
    ProbedCode& code = *tracee.process->probed;
    if (code.xol().at(pc)) {
      (void)ptrace::step(tracee.id.tid, 0);
      return;
    }
    const Address at = std::exchange(tracee.probed.aside, std::nullopt)->site;
    plant_again(code, at);
    BreakpointSite* const site = code.inserted_at(at);
    if (site != nullptr && site->block != BreakpointSite::kNoBlock) {
      pass(tracee, *site, now);
      cross(tracee, *site, pc, now);
    }
    if (tracee.probed.window && !note_step(tracee, pc)) {
      return;
    }
  } else {
    std::array<std::byte, kLongestCode> code{};
    const auto& done = tracee.probed.window->path.back();
    std::copy(done.code.begin(), done.code.end(), code.begin());
    ThreadMemory memory(tracee.id.tid);
    if (Native::hide_step(std::span(code).first(done.size), registers, memory)) {
      (void)ptrace::set_registers(tracee.id.tid, registers);
    }
    spend(core::Clock::now() - now);
    if (!note_step(tracee, pc)) {
      return;
    }
  }
  go(tracee);
  hit_is_over(tracee, now);
}

void ProbeCounter::go(Tracee& tracee) {
  if (tracee.probed.aside || tracee.probed.window) {
    (void)ptrace::step(tracee.id.tid, 0);
  } else {
    (void)ptrace::resume(tracee.id.tid, 0);
  }
}

void ProbeCounter::hit_is_over(Tracee& tracee, core::TimePoint heard) {
  const core::TimePoint done = core::Clock::now();
  core::TimePoint& resumed_at = tracee.probed.resumed_at;
  const core::Duration since_last =
      resumed_at == core::TimePoint{} ? core::Duration{} : heard - resumed_at;
  resumed_at = done;
  tracee.probed.last_hit = {heard, done};
  const core::Duration cost = hit_cost_.add(done - heard, since_last);
  budget_.spend(cost);
  cost_.store(budget_.spent().count(), std::memory_order_relaxed);
  meter_.add_hit(cost);
  ProbedCode& code = *tracee.process->probed;
  if (code.executions() % kHitsBetweenLooks == 0) {
    timer_.others_use(budget_.used(target_cpu()));
    cool(code);
  }
}

void ProbeCounter::cool(ProbedCode& code) {
  if (options_.keep_hot) {
    return;
  }
  constexpr double kKept = 0.1;
  constexpr std::uint64_t kHitsBetween = 4'096;
  if (is_exceeded()) {
    removed_ += code.remove_hottest(kKept, core::Clock::now());
  } else if (code.executions() % kHitsBetween == 0) {
    // The rule of old: a tenth of more than 50,000 hits is too much for one of them.
    constexpr double kShareOfOne = 0.1;
    constexpr std::uint64_t kFrom = 50'000;
    removed_ += code.remove_above(kShareOfOne, kFrom, core::Clock::now());
    // It leaves a loop with eleven blocks its probes, on which --overhead sets no limit.
    if (budget_.is_bottleneck(core::Clock::now())) {
      removed_ += code.remove_hottest(kKept, core::Clock::now());
    }
  }
}

void ProbeCounter::map(ProbedCode& code, Address address, std::optional<core::TimePoint> unseen) {
  const core::TimePoint begin = core::Clock::now();
  code.instrument_function(address, unseen);
  spend(core::Clock::now() - begin);
  note_totals(code);
}

bool ProbeCounter::is_exceeded() const { return budget_.is_exceeded(target_cpu()); }

core::Duration ProbeCounter::target_cpu() const {
  return core::Duration{timer_.counts().target_cpu.load(std::memory_order_relaxed)};
}

void ProbeCounter::spend(core::Duration cost) {
  budget_.spend(cost);
  cost_.store(budget_.spent().count(), std::memory_order_relaxed);
  meter_.add_work(cost);
  timer_.others_use(budget_.used(target_cpu()));
}

/// The instruction has to be executed by the thread itself.
void ProbeCounter::step_aside(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                              core::TimePoint now) {
  ProbedCode& code = *tracee.process->probed;
  const ptrace::Registers before = registers;
  const auto copy = code.copy_of(site, tracee.id.tid);
  if (copy) {
    Native::set_pc(registers, *copy);
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  if (copy && !core::ends_block(site.instruction.flow)) {
    pass(tracee, site, now);
    if (tracee.probed.window) {
      end_window(tracee);
    }
    (void)ptrace::resume(tracee.id.tid, 0);
    return;
  }
  tracee.probed.aside = {site.instruction.address, before, copy.has_value()};
  if (!copy) {
    (void)code.remove(site);
  }
  (void)ptrace::step(tracee.id.tid, 0);
}

void ProbeCounter::plant_again(ProbedCode& code, Address at) {
  BreakpointSite* const site = code.removed_at(at);
  if (site != nullptr && site->block != BreakpointSite::kNoBlock && !code.block_of(*site).until) {
    (void)code.insert(*site);
  }
}

/// Something else came before the displaced instruction was done: it is still to be.
void ProbeCounter::leave_aside(Tracee& tracee) {
  const auto aside = std::exchange(tracee.probed.aside, std::nullopt);
  plant_again(*tracee.process->probed, aside->site);
  if (aside->in_copy) {
    (void)ptrace::set_registers(tracee.id.tid, aside->before);
  }
}

/// A thread that stopped in a copy goes on in the original's place.
void ProbeCounter::pull_out(const Tracee& tracee) {
  ProbedCode& code = *tracee.process->probed;
  if (code.xol().empty()) {
    return;
  }
  auto registers = ptrace::registers(tracee.id.tid);
  const auto inside = registers ? code.xol().at(Native::pc(*registers)) : std::nullopt;
  const auto instruction = inside ? code.decode(inside->site) : std::nullopt;
  if (!instruction) {
    return;
  }
  if (!inside->is_done && tracee.probed.counted) {
    BreakpointSite* const site = code.site_at(inside->site);
    if (site != nullptr && site->block != BreakpointSite::kNoBlock) {
      code.take_back_hit(code.block_of(*site));  // it comes back to the breakpoint
    }
  }
  Native::set_pc(*registers, inside->is_done ? instruction->next() : inside->site);
  (void)ptrace::set_registers(tracee.id.tid, *registers);
}

}  // namespace sp::supervisor
