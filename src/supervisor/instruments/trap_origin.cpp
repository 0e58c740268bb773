#include "supervisor/instruments/trap_origin.h"

#include <signal.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "arch/native.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// As gdb's adjust_pc_after_break: the breakpoint is gone, its instruction was not executed.
void adjust_pc(pid_t tid, ptrace::Registers registers) {
  const Address pc = Native::pc(registers);
  mark_trap(tid, registers);
  Native::set_pc(registers, Native::breakpoint_of_trap(pc));
  (void)ptrace::set_registers(tid, registers);  // fails where it was killed
}

/// The program's own instruction there traps, whether a breakpoint of ours was over it or not.
bool traps_itself(const BreakpointSite* site) {
  return site != nullptr && !site->inserted && site->instruction.flow == core::Flow::stop;
}

}  // namespace

TrapOrigin classify_trap(const TrapFacts& facts) {
  if (facts.is_inserted && facts.length > Native::kBreakpoint.size()) {
    return TrapOrigin::breakpoint;
  }
  if (!facts.si_code) {
    return TrapOrigin::thread_gone;
  }
  if (Native::is_breakpoint_code(*facts.si_code) && facts.is_known_site) {
    return facts.is_inserted ? TrapOrigin::breakpoint : TrapOrigin::removed_breakpoint;
  }
  // The kernel reports a handler's first instruction with the signal's number for a code.
  if (*facts.si_code == SIGTRAP) {
    return TrapOrigin::handler_entry;
  }
  return Native::is_step_code(*facts.si_code) ? TrapOrigin::step : TrapOrigin::target;
}

Trap trap_origin(BreakpointTable& code, pid_t tid, const ptrace::Registers& registers) {
  const Address trap = Native::breakpoint_of_trap(Native::pc(registers));
  BreakpointSite* const site = code.site_at(trap);
  TrapFacts facts;
  if (site != nullptr && !traps_itself(site)) {
    facts = {true, site->inserted, site->instruction.length, std::nullopt};
  }
  TrapOrigin origin = classify_trap(facts);
  if (origin == TrapOrigin::thread_gone) {
    if (const auto info = ptrace::signal_info(tid)) {
      facts.si_code = Native::trap_code(*info);
      origin = classify_trap(facts);
    }
  }
  if (origin == TrapOrigin::target && site == nullptr && facts.si_code &&
      Native::is_breakpoint_code(*facts.si_code) &&
      (code.forget_moved_trap(trap) || code.is_hold(trap) || code.remove_written_back(trap))) {
    adjust_pc(tid, registers);
    return {TrapOrigin::removed_breakpoint, nullptr};
  }
  if (origin == TrapOrigin::removed_breakpoint) {
    adjust_pc(tid, registers);
    code.remove_written_back(*site);
  }
  return {origin, site};
}

bool is_at_handler(pid_t tid) {
  const auto info = ptrace::signal_info(tid);
  return info && info->si_signo == SIGTRAP &&
         classify_trap({.si_code = Native::trap_code(*info)}) == TrapOrigin::handler_entry;
}

void mark_trap(pid_t tid, const ptrace::Registers& registers) {
  siginfo_t info{};
  info.si_signo = SIGTRAP;
  info.si_code = SI_KERNEL;
  const std::array<std::uint64_t, 2> place{Native::pc(registers).value(),
                                           Native::sp(registers).value()};
  std::memcpy(reinterpret_cast<std::byte*>(&info) + offsetof(siginfo_t, si_addr), place.data(),
              sizeof place);
  (void)ptrace::set_signal_info(tid, info);
}

bool retire_trap(BreakpointTable& code, pid_t tid) {
  const auto registers = ptrace::registers(tid);
  const auto info = ptrace::signal_info(tid);
  const int reason = info ? Native::trap_code(*info) : 0;
  if (!registers || reason <= 0) {
    return false;
  }
  const Address trap = Native::breakpoint_of_trap(Native::pc(*registers));
  if (Native::is_breakpoint_code(reason) && code.is_known_site(trap) &&
      !traps_itself(code.site_at(trap))) {
    adjust_pc(tid, *registers);
    (void)code.forget_moved_trap(trap);
    if (BreakpointSite* const site = code.site_at(trap)) {
      code.remove_written_back(*site);
    }
    return true;
  }
  return reason == SIGTRAP || Native::is_step_code(reason);
}

bool trap_is_pending(const BreakpointTable& code, pid_t tid, Address pc, bool was_stepped) {
  if (!was_stepped && !code.is_known_site(Native::breakpoint_of_trap(pc))) {
    return false;
  }
  const auto masks = read_signal_masks(tid);
  return masks && (masks->thread_pending & signal_bit(SIGTRAP)) != 0;
}

}  // namespace sp::supervisor
