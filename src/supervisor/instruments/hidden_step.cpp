#include "supervisor/instruments/hidden_step.h"

#include <array>
#include <span>

#include "arch/native.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

void hide_step(InstrumentedCode& code, pid_t tid, core::Address executed,
               ptrace::Registers& registers) {
  std::array<std::byte, kLongestCode> bytes{};
  const std::size_t size = code.fetch(executed, bytes);
  ThreadMemory memory(tid);
  if (arch::Native::hide_step(std::span(bytes).first(size), registers, memory)) {
    (void)ptrace::set_registers(tid, registers);
  }
}

}  // namespace sp::supervisor
