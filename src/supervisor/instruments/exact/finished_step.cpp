#include "supervisor/instruments/exact/finished_step.h"

#include "arch/native.h"
#include "supervisor/instruments/hidden_step.h"

namespace sp::supervisor {

using core::Address;
using core::Flow;
using core::Instruction;

bool has_executed(const Instruction& behind, Address pc) {
  switch (behind.flow) {
    case Flow::next:
      return pc == behind.next();
    case Flow::jump:
    case Flow::call:
      return pc == behind.target;
    case Flow::branch:
      return pc == behind.next() || pc == behind.target;
    default:
      return false;  // it may lead anywhere, or is seen by another stop
  }
}

std::optional<Instruction> finish_step(CountedCode& code, pid_t tid,
                                       const std::optional<Instruction>& stepped,
                                       ptrace::Registers& registers) {
  if (!stepped) {
    return std::nullopt;
  }
  hide_step(code, tid, stepped->address, registers);
  const Address pc = arch::Native::pc(registers);
  if (stepped->flow == Flow::next && pc != stepped->next() && pc != stepped->address) {
    const auto behind = code.decode(stepped->next());
    if (behind && has_executed(*behind, pc)) {
      return behind;
    }
  }
  return stepped;
}

}  // namespace sp::supervisor
