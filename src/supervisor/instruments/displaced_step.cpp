#include "supervisor/instruments/displaced_step.h"

#include <utility>

#include "arch/native.h"

namespace sp::supervisor {

using arch::Native;
using core::Address;

void DisplacedStep::begin(InstrumentedCode& code, BreakpointSite& site, std::optional<Address> copy,
                          pid_t tid, ptrace::Registers& registers) {
  Step step{site.instruction.address, registers, false, std::nullopt};
  if (copy) {
    step.in_copy = true;
    Native::set_pc(registers, *copy);
  } else {
    (void)code.remove(site);
  }
  step_ = step;
  (void)ptrace::set_registers(tid, registers);
}

bool DisplacedStep::begin_sequence(InstrumentedCode& code, std::size_t length, pid_t tid,
                                   ptrace::Registers& registers) {
  const Address begin = Native::pc(registers);
  const auto copy = code.copy_of_sequence(begin, tid);
  if (!copy) {
    return false;
  }
  step_ = Step{begin, registers, true, begin + (length - Native::kBreakpoint.size())};
  Native::set_pc(registers, *copy);
  (void)ptrace::set_registers(tid, registers);
  return true;
}

Address DisplacedStep::finish(InstrumentedCode& code) {
  const Address at = std::exchange(step_, std::nullopt)->site;
  BreakpointSite* const site = code.removed_at(at);
  if (site != nullptr && code.should_reinsert(*site)) {
    (void)code.insert(*site);
  }
  return at;
}

void DisplacedStep::cancel(InstrumentedCode& code, pid_t tid) {
  Step step = *step_;
  (void)finish(code);
  if (step.in_copy) {
    // It may have been given another slot of counters meanwhile.
    if (const auto now = ptrace::registers(tid)) {
      Native::set_counter_base(step.before, Native::counter_base(*now));
    }
    (void)ptrace::set_registers(tid, step.before);
  }
}

std::optional<LeftCopy> leave_copy(InstrumentedCode& code, pid_t tid) {
  if (code.xol().empty()) {
    return std::nullopt;
  }
  auto registers = ptrace::registers(tid);
  const auto inside = registers ? code.xol().at(Native::pc(*registers)) : std::nullopt;
  const auto instruction = inside ? code.decode(inside->site) : std::nullopt;
  if (!instruction) {
    return std::nullopt;
  }
  Native::set_pc(*registers, inside->is_done ? instruction->next() : inside->site);
  (void)ptrace::set_registers(tid, *registers);
  return LeftCopy{inside->site, inside->is_done};
}

}  // namespace sp::supervisor
