#include "supervisor/instruments/probes/copy_installation.h"

#include <signal.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/copy_removal.h"
#include "supervisor/instruments/probes/event_places.h"
#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/trap_origin.h"

namespace sp::supervisor {

using arch::Native;
using core::Address;

namespace {

/// It has reported a breakpoint, or the end of a step.
bool has_trapped(const HeldThread& held) {
  const auto* const delivery = std::get_if<SignalDelivery>(&held.stop);
  return delivery != nullptr && delivery->signal == SIGTRAP;
}

/// A trap is pending that may be a step's or a breakpoint's.
bool has_unclear_trap(const ProbedCode& code, const HeldThread& held, const ProbedThread& thread) {
  return thread.was_stepped && !has_trapped(held) &&
         trap_is_pending(code, held.tid, Address{}, true);
}

}  // namespace

void CopyInstallation::run(core::TimePoint now) {
  leave_out_stepped();
  if (prepared_.empty() || !write_copies()) {
    return;
  }
  note_probes();
  replace_probes();
  for (const PreparedCopy& one : prepared_) {
    code_.begin_copy(one.function, one.copy, {now, writes_events(code_)});
  }
  // If we are killed once the jumps are there, a thread in the middle of one would execute its
  // rest.
  move_threads();
  if (!write_jumps()) {
    take_back();
    return;
  }
  for (const PreparedCopy& one : prepared_) {
    if (one.jumps_to_entry) {
      code_.note_jumps_to(one.copy->original.begin);
    }
  }
  move_threads();  // those that have woken meanwhile
  adjust_sleepers();
}

void CopyInstallation::leave_out_stepped() {
  for (const HeldThread& held : world_.threads()) {
    Tracee* const tracee = tracees_.find(held.tid);
    if (tracee == nullptr || tracee->thread_state == nullptr) {
      continue;
    }
    const ProbedThread& thread = probed_thread(*tracee);
    if (!thread.displaced.is_active() && !thread.window && thread.delivering == 0 &&
        !has_unclear_trap(code_, held, thread)) {
      if (!has_trapped(held)) {
        HitCounter::leave_displaced_instruction(*tracee);
      }
      continue;
    }
    if (const auto registers = ptrace::registers(held.tid)) {
      leave_out(Native::pc(*registers));
    }
    if (thread.displaced.is_active()) {
      leave_out(thread.displaced.site());
    }
  }
}

void CopyInstallation::leave_out(Address address) {
  const auto out = std::stable_partition(
      prepared_.begin(), prepared_.end(),
      [&](const PreparedCopy& one) { return !one.copy->original.contains(address); });
  left_out_.insert(left_out_.end(), out, prepared_.end());
  prepared_.erase(out, prepared_.end());
}

const PreparedCopy* CopyInstallation::at(Address address) const {
  const auto found = std::find_if(prepared_.begin(), prepared_.end(), [&](const PreparedCopy& one) {
    return one.copy->original.contains(address);
  });
  return found != prepared_.end() ? &*found : nullptr;
}

bool CopyInstallation::write_copies() {
  std::vector<Address> failed;
  for (const PreparedCopy& one : prepared_) {
    if (!code_.memory().write(one.copy->at, one.copy->code) ||
        !code_.patches().add_exits(exits_of(*one.copy))) {
      failed.push_back(one.copy->original.begin);
    }
  }
  std::for_each(failed.begin(), failed.end(), [this](Address begin) { leave_out(begin); });
  return !prepared_.empty();
}

void CopyInstallation::note_probes() {
  for (const PreparedCopy& one : prepared_) {
    for (const core::CopiedBlock& block : one.copy->blocks) {
      if (const Address probe = counted_at(code_, block.start); probe != Address{}) {
        probe_of_.emplace(block.start, probe);
      }
    }
  }
}

void CopyInstallation::replace_probes() {
  std::vector<BreakpointSite*> probes;
  for (const PreparedCopy& one : prepared_) {
    const auto of_function = probes_of(code_, one.function);
    probes.insert(probes.end(), of_function.begin(), of_function.end());
    // It is still there where the function has never had probes, and may be the first one's.
    BreakpointSite* const entry = code_.inserted_at(one.copy->original.begin);
    if (entry != nullptr && entry->block == BreakpointSite::kNoBlock && entry->gate == Gate::none &&
        entry->copy == Address{}) {
      probes.push_back(entry);
    }
  }
  code_.remove_all(std::move(probes));
  std::vector<BreakpointSite*> landings;
  for (const PreparedCopy& one : prepared_) {
    const auto of_function = landing_sites(code_, *one.copy);
    landings.insert(landings.end(), of_function.begin(), of_function.end());
  }
  code_.insert_all(std::move(landings));
}

bool CopyInstallation::write_jumps() {
  std::vector<CodeChange> jumps;
  for (const PreparedCopy& one : prepared_) {
    add_jumps(code_, *one.copy, jumps);
  }
  const auto done = code_.patches().apply(
      std::move(jumps), [this] { return world_.stop_woken(kLongestWorldStop).has_value(); });
  if (!done) {
    core::log_note("functions are not copied: {}", done.error().message());
  }
  return done.has_value();
}

void CopyInstallation::take_back() {
  std::vector<CopiedFunctions::Copy> copies;
  copies.reserve(prepared_.size());
  for (const PreparedCopy& one : prepared_) {
    copies.push_back(one.copy);
  }
  CopyRemoval removal(code_, tracees_, world_);
  removal.end(copies);
  for (const PreparedCopy& one : prepared_) {
    code_.insert_probes(code_.function(one.function));
  }
  removal.uncount_ahead(copies);
  left_out_.insert(left_out_.end(), prepared_.begin(), prepared_.end());
  prepared_.clear();
}

bool CopyInstallation::is_counted(const core::FunctionCopy& copy, Address pc) const {
  const auto block = copy.block_of(pc);
  const auto probe = block ? probe_of_.find(copy.blocks[*block].start) : probe_of_.end();
  return probe != probe_of_.end() && pc > probe->second;
}

void CopyInstallation::move_threads() {
  for (const HeldThread& held : world_.threads()) {
    if (moved_.insert(held.tid).second) {
      move(held);
    }
  }
}

void CopyInstallation::move(const HeldThread& held) {
  Tracee* const tracee = tracees_.find(held.tid);
  const auto registers = tracee != nullptr && tracee->thread_state != nullptr
                             ? ptrace::registers(held.tid)
                             : core::fail("");
  if (!registers) {
    return;
  }
  const Address pc = Native::pc(*registers);
  const auto met = unserved_breakpoint(code_, held, pc, probed_thread(*tracee).was_stepped);
  const PreparedCopy* const here = at(met.value_or(pc));
  if (here == nullptr) {
    return;
  }
  if (met) {
    enter_function_copy_behind(*tracee, *met, is_counted(*here->copy, *met));
  } else if (Native::leaving_syscall(*registers) &&
             here->copy->is_kept(Address{pc.value() - arch::NativeTrapHandler::kSyscall.size()})) {
    // The kernel, or what completes a transfer, may make the call again, which is in the original.
    stay_behind_call(*here, pc);
  } else {
    enter_function_copy(*tracee, is_counted(*here->copy, pc));
  }
}

void CopyInstallation::adjust_sleepers() {
  for (const Address pc : sleepers(tracees_, code_, world_)) {
    if (const PreparedCopy* const here = at(pc)) {
      stay_behind_call(*here, pc);
    }
  }
}

/// A thread in a system call in the middle of a block goes on by the landing behind it, which the
/// copy takes to be behind what counts the block.
void CopyInstallation::stay_behind_call(const PreparedCopy& here, Address pc) {
  if (const auto stays = stay_in_original(*here.copy, pc, is_counted(*here.copy, pc))) {
    code_.copies().correct(*stays);
  }
}

}  // namespace sp::supervisor
