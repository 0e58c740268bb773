#include "supervisor/instruments/probes/hit_counter.h"

#include <algorithm>

#include "arch/native.h"
#include "supervisor/breakpoints/edge_flow.h"
#include "supervisor/instruments/probes/coverage.h"
#include "supervisor/instruments/probes/function_trace.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr std::uint64_t kHitsBetweenLooks = 32;

}  // namespace

void HitCounter::count_block(const Tracee& tracee, const BreakpointSite& site,
                             core::TimePoint now) {
  ProbedCode& code = probed_code(*tracee.process);
  ProbedCode::Block& block = code.block_of(site);
  if (!probed_thread(tracee).counted) {
    code.note_uncounted_execution(block, now);
    return;
  }
  code.count(block, now);
  hits_.fetch_add(1, std::memory_order_relaxed);
}

void HitCounter::count_last_block(const Tracee& tracee, core::TimePoint now) {
  ProbedCode& code = probed_code(*tracee.process);
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers || !probed_thread(tracee).counted) {
    return;
  }
  // Behind a system call that does not return the next block may begin.
  const Address pc = arch::Native::pc(*registers);
  const Address at = arch::Native::leaving_syscall(*registers) ? pc - 1 : pc;
  const ProbedFunction* const function = code.functions().at(at);
  if (function == nullptr) {
    return;
  }
  for (const std::uint32_t number : function->blocks) {
    ProbedCode::Block& block = code.block(number);
    const bool is_in = block.start < at && at < block.start + block.size;
    BreakpointSite* const probe =
        is_in && block.probe >= at ? code.inserted_at(block.probe) : nullptr;
    if (probe != nullptr && probe->block == number) {
      code.count(block, now);
    }
  }
}

bool HitCounter::reach_block(ProbedCode& code, BreakpointSite& site, core::TimePoint now) {
  const core::Duration before = code.coverage()->analysed();
  const bool is_over = reach(code, site, now);
  if (code.coverage()->analysed() > before) {
    costs_.add_work(code.coverage()->analysed() - before);
  }
  if (!is_over) {
    return false;
  }
  hits_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void HitCounter::take_back(const Tracee& tracee, Address site) {
  ProbedCode& code = probed_code(*tracee.process);
  if (code.trace()) {
    // Its event is written: the next hit writes none.
    ProbedThread& thread = probed_thread(tracee);
    thread.comes_again = {site, thread.sp_of_last_place};
    return;
  }
  const BreakpointSite* const probe = code.site_at(site);
  if (probed_thread(tracee).counted && probe != nullptr &&
      probe->block != BreakpointSite::kNoBlock) {
    code.take_back_hit(code.block_of(*probe));
  }
}

void HitCounter::leave_displaced_instruction(const Tracee& tracee) {
  const auto left = leave_copy(probed_code(*tracee.process), tracee.id.tid);
  if (left && !left->executed) {
    take_back(tracee, left->site);
  }
}

void HitCounter::count_edge(const Tracee& tracee, BreakpointSite& site, Address to,
                            core::TimePoint now) {
  if (!core::ends_block(site.instruction.flow)) {
    return;
  }
  const bool counted = probed_thread(tracee).counted;
  if (to == site.instruction.next() + 1 && counted) {
    probed_code(*tracee.process).count_unlocked(to, now);
  }
  if (EdgeCounts::Edge* const known = site.edge_cache.find(to)) {
    if (counted) {
      EdgeCounts::count(*known, now);
    }
    return;
  }
  ProbedCode& code = probed_code(*tracee.process);
  // Where functions get copies at once, the breakpoint on the entry sees to that.
  const bool comes_to_entry =
      keep_hot_probes_ && code.hot_functions().are_wanted() && code.is_awaiting_entry(to);
  if (!comes_to_entry && code.needs_instrumentation(to)) {
    if (!keep_hot_probes_ && costs_.is_exceeded()) {
      code.functions().note_unseen();
    } else {
      const Address from = site.instruction.address;
      discover(code, to, std::nullopt);
      if (code.inserted_at(from) != &site) {
        return;
      }
    }
  }
  EdgeCounts::Edge& edge =
      code.edges().at(site.instruction.address, to, edge_flow(site.instruction, to));
  if (counted) {
    EdgeCounts::count(edge, now);
  }
  // A cached edge is not looked at any more: only where there is nothing left to map.
  if (!code.needs_instrumentation(to)) {
    site.edge_cache.remember(to, edge);
  }
}

void HitCounter::discover(ProbedCode& code, Address address,
                          std::optional<core::TimePoint> unseen) {
  const core::Duration begin = core::thread_cpu_time();
  code.instrument_function(std::span(&address, 1), unseen);
  costs_.add_work(core::thread_cpu_time() - begin);
  note_totals(code);
}

void HitCounter::end_hit(Tracee& tracee, core::TimePoint heard, bool counts) {
  const core::Duration cost = costs_.add_hit(probed_thread(tracee), heard);
  const ProbedThread::Hit& hit = probed_thread(tracee).last_hit;
  FunctionTrace::add_stolen(tracee, hit.end - hit.begin + costs_.round_trip());
  ProbedCode& code = probed_code(*tracee.process);
  if (!counts || code.is_young_child(heard)) {
    code.beside() += cost;
  }
  if (code.executions() % kHitsBetweenLooks == 0) {
    costs_.tell_timer();
    remove_hot_probes(code);
  }
}

void HitCounter::remove_hot_probes(ProbedCode& code) {
  if (keep_hot_probes_) {
    return;
  }
  constexpr double kKept = 0.1;
  constexpr std::uint64_t kHitsBetween = 4'096;
  if (costs_.is_exceeded()) {
    removed_ += code.remove_hottest(kKept, core::Clock::now());
  } else if (!code.trace() && code.executions() % kHitsBetween == 0) {
    // The original's rule: a tenth of more than 50,000 hits is too much for one block.
    constexpr double kShareOfOne = 0.1;
    constexpr std::uint64_t kFrom = 50'000;
    removed_ += code.remove_above(kShareOfOne, kFrom, core::Clock::now());
    // It leaves a loop with eleven blocks its probes, on which --overhead 0 sets no limit.
    if (costs_.is_bottleneck(core::Clock::now())) {
      removed_ += code.remove_hottest(kKept, core::Clock::now());
    }
  }
}

void HitCounter::enter_function(ProbedCode& code, Address entry) {
  // With --trace the hottest functions are too much, never one that is entered for the first time.
  if (!keep_hot_probes_ && !code.trace() && costs_.is_exceeded()) {
    code.disarm_entries();
  } else {
    discover(code, entry, std::nullopt);
  }
}

void HitCounter::note_totals(const ProbedCode& code) {
  functions_ = std::max(functions_.load(), code.functions_instrumented());
  inserted_ = std::max(inserted_.load(), code.probes());
  derived_ = std::max(derived_.load(), code.derived());
}

void HitCounter::fill(core::Probing& probing) const {
  probing.functions = functions_;
  probing.planted = inserted_;
  probing.derived = derived_;
  probing.removed = removed_;
  probing.hits = hits_;
}

}  // namespace sp::supervisor
