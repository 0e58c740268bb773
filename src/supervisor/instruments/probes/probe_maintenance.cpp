#include "supervisor/instruments/probes/probe_maintenance.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/breakpoints/memory_origin.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/probes/coverage.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

}  // namespace

void give_mask_back(Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  const auto registers = ptrace::registers(tracee.id.tid);
  if (thread.mask.blocks_trap() && registers &&
      trap_is_pending(probed_code(*tracee.process), tracee.id.tid, Native::pc(*registers),
                      thread.was_stepped)) {
    return;  // blocked, the trap would not come, and the thread go on behind the breakpoint
  }
  thread.mask.give_back(tracee.id.tid);
  thread.mask = SigtrapMask(MaskChanges::unseen);
  thread.mask_is_known = false;
}

void give_mask_back_if_bare(Tracee& tracee) {
  if (!probed_code(*tracee.process).may_insert()) {
    give_mask_back(tracee);
  }
}

bool unblock_trap(const TracedProcess& process, pid_t tid, ProbedThread& thread) {
  if (std::exchange(thread.mask_is_known, true)) {
    return thread.mask.unblock_again(tid);
  }
  if (probed_code(process).signal_handlers().are_told()) {
    thread.mask.set_changes(MaskChanges::seen);
  }
  const bool inherited = thread.mask.blocks_trap();
  const bool was_blocked = thread.mask.unblock(tid);
  thread.mask.inherit_mask(tid, inherited);
  return was_blocked;
}

void unblock_trap_first(const Tracee& tracee, UserStop stop) {
  const pid_t tid = tracee.id.tid;
  ProbedThread& thread = probed_thread(tracee);
  if (thread.mask_is_known || !probed_code(*tracee.process).trap_handler().is_installed) {
    return;
  }
  if (stop == UserStop::signal && waits_with_other_mask(tid) && ptrace::interrupt(tid)) {
    return;  // that stop comes where the signal's handler begins, or at the call once more
  }
  (void)unblock_trap(*tracee.process, tid, thread);
}

void ProbeMaintenance::run(Tracee& tracee, bool was_sampled) {
  TracedProcess& process = *tracee.process;
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(process);
  const pid_t tid = tracee.id.tid;
  const auto registers = ptrace::registers(tid);
  if (!registers || !code.may_insert()) {
    return;
  }
  const Address pc = Native::pc(*registers);
  if (trap_is_pending(code, tid, pc, thread.was_stepped)) {
    return;
  }
  if (!code.trap_handler().tried) {
    if (!is_worth_probes(process) || (!process.from_start && has_borrowed_memory(process.id.pid))) {
      return;
    }
    modules_.begin(tracee);
    ++begun_;
    counter_.note_totals(code);
  } else if (was_sampled) {
    modules_.look_again(process, tid);
    counter_.note_totals(code);
  }
  if (!code.instruments_anything()) {
    return;
  }
  if (unblock_trap(process, tid, thread)) {
    code.trap_handler().next_look = {};  // the kernel may have reset the handler already
  }
  keep_handler(tracee);
  charge_copies(tracee);
  if (!costs_.is_exceeded()) {
    serve(std::exchange(code.postponed(), {}), process);
  }
  if (was_sampled && !Native::leaving_syscall(*registers) && code.needs_exploration(pc) &&
      !code.trace() && !costs_.is_exceeded()) {
    exploration_.begin(tracee, pc);
  }
}

void ProbeMaintenance::charge_copies(const Tracee& tracee) {
  constexpr core::Duration kLeastBetween = std::chrono::milliseconds(50);
  constexpr int kShare = 20;  // of the time is what that may take, of a large program
  ProbedCode& code = probed_code(*tracee.process);
  const core::TimePoint now = core::Clock::now();
  const auto& space = code.copy_space();
  if (space == nullptr || now < space->next_charge) {
    return;
  }
  code.collect_copies();
  code.collect_transfers();
  for (const Address at : code.copies().take_new_targets()) {
    if (!code.is_in_function(at) && code.needs_instrumentation(at)) {
      counter_.discover(code, at, now);
    }
  }
  modules_.charge_copies(*tracee.process);
  promotion_.keep_to_budget(tracee, now);
  const core::TimePoint done = core::Clock::now();
  space->next_charge = done + std::max(kLeastBetween, kShare * (done - now));
}

/// Preparing a process takes milliseconds, and more for a large program: most processes that a
/// shell or a compiler's driver starts do not live for as long.
bool ProbeMaintenance::is_worth_probes(const TracedProcess& process) const {
  constexpr core::Duration kAnyProgram = std::chrono::milliseconds(2);
  constexpr core::Duration kMegabyte = std::chrono::milliseconds(4);
  constexpr int kShareOfLife = 10;
  std::uint64_t largest = 0;  // file's code: the program's own, more often than not
  for (const core::AddressRange range : process.code) {
    largest = std::max(largest, range.end - range.begin);
  }
  const core::Duration cost =
      kAnyProgram + kMegabyte * static_cast<std::int64_t>(largest) / (std::int64_t{1} << 20);
  return process.from_start || process.is_named ||
         (core::Clock::now() - process.began >= kShareOfLife * cost && !costs_.is_exceeded());
}

/// A breakpoint in a thread that blocks SIGTRAP makes the kernel reset the handler, and the target
/// may install its own. The first shows from outside. To ask the target it has to make a call for
/// us, in which it must not lose us: that is done less and less often.
void ProbeMaintenance::keep_handler(const Tracee& tracee) {
  constexpr core::Duration kMostBetween = std::chrono::minutes(1);
  const core::TimePoint now = core::Clock::now();
  ProbedCode& code = probed_code(*tracee.process);
  TrapHandler& handler = code.trap_handler();
  if (now < handler.next_look) {
    return;
  }
  handler.next_look = now + TrapHandler::kBetweenLooks;
  const auto masks = read_signal_masks(tracee.id.tid);
  const bool is_there = masks && (masks->caught & signal_bit(SIGTRAP)) != 0;
  if (is_there && now < handler.next_call) {
    return;
  }
  handler.between_calls = std::min(2 * handler.between_calls, kMostBetween);
  handler.next_call = now + handler.between_calls;
  if (!renew_trap_handler(code, tracee.id.tid)) {
    remove_all_probes(tracee);
  }
}

void ProbeMaintenance::give_up_where_dear(const Tracee& tracee) {
  ProbedCode& code = probed_code(*tracee.process);
  if (code.may_insert() && !code.is_young_child(core::Clock::now()) &&
      costs_.are_dear(code.beside())) {
    code.is_to_be_left() = true;
    give_up(tracee, "forks or changes its signal masks too often");
  }
}

void ProbeMaintenance::leave_program(Tracee& tracee, const std::function<bool()>& make_detachable) {
  TracedProcess& process = *tracee.process;
  ProbedCode& code = probed_code(process);
  const bool copies_stay = code.copy_space() != nullptr && code.copy_space()->is_in_use;
  // Children that have not reported yet, or share the memory, use it, too.
  if (process.threads != 1 || process.code_state.use_count() != 1 || copies_stay ||
      !make_detachable()) {
    return;
  }
  if (code.trap_handler().page != Address{} || !code.xol().empty() ||
      code.copy_space() != nullptr || code.inherited_copy_space() != nullptr) {
    return;
  }
  modules_.flush(process, tracee.id);
  process.ignores_sigtrap = false;  // the kernel knows what the program has set
  process.was_given_up = true;
  process.code_state = nullptr;
  auto thread = std::make_unique<ProbedThread>();
  thread->counted = probed_thread(tracee).counted;
  tracee.thread_state = std::move(thread);
}

void ProbeMaintenance::give_up(const Tracee& tracee, std::string_view reason) {
  const auto threads = list_threads(tracee.process->id.pid);
  for (const pid_t tid : threads ? *threads : std::vector<pid_t>{}) {
    (void)ptrace::interrupt(tid);  // each gets its mask back, on_user_stop()
  }
  ProbedCode& code = probed_code(*tracee.process);
  promotion_.demote_all(*tracee.process, &tracee);
  if (code.trace()) {
    code.trace()->is_over = true;
  }
  std::vector<std::uint32_t> all(code.blocks().size());
  std::iota(all.begin(), all.end(), 0U);
  code.remove_probes(all, core::Clock::now());
  if (code.coverage() != nullptr) {
    end_unentered(code, core::Clock::now());
  }
  if (code.trace()) {
    code.disarm_entries();
    FunctionTrace::finish(*tracee.process, core::TraceEventKind::off, core::Clock::now());
    if (code.trace()->recorder != nullptr) {
      const int pid = tracee.process->id.pid;
      code.trace()->recorder->tell(
          {core::TraceAction::gave_up, 0, {}, fmt::format("process {} {}", pid, reason), pid},
          core::Clock::now());
    }
  }
  code.restore_all();
  modules_.flush(*tracee.process, tracee.id);
  core::log_note("process {} {}: from here on it is only sampled", tracee.process->id.pid, reason);
}

void ProbeMaintenance::serve(const core::ProbeFunctions& wanted, TracedProcess& process) {
  if (process.code_state == nullptr || !probed_code(process).may_insert() ||
      !probed_code(process).trap_handler().tried) {
    return;
  }
  constexpr std::size_t kMost = 1000;
  ProbedCode& code = probed_code(process);
  core::ProbeFunctions& later = code.postponed();
  for (const Address at : wanted.at) {
    const auto leader = code.uninstrumented_at(at);
    if (leader && !costs_.is_exceeded()) {
      counter_.discover(code, *leader, core::Clock::now());
    } else if (leader && later.at.size() < kMost) {
      later.at.push_back(at);
    }
  }
  for (const Address at : wanted.entries) {
    if (!costs_.is_exceeded()) {
      code.arm_entry(at, core::Clock::now());
    } else if (later.entries.size() < kMost) {
      later.entries.push_back(at);
    }
  }
}

}  // namespace sp::supervisor
