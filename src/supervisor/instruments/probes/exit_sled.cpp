#include "supervisor/instruments/probes/exit_sled.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "arch/native.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

bool is_in_exit_sled(const Tracee& tracee, const BreakpointSite& jump) {
  const std::size_t size = arch::Native::sled_shape(core::SledKind::exit, 0).size;
  const std::size_t before = size - jump.instruction.length;
  std::vector<std::byte> bytes(before);
  ThreadMemory memory(tracee.id.tid);
  if (jump.instruction.flow != core::Flow::jump ||
      !memory.read(jump.instruction.address - before, bytes)) {
    return false;
  }
  bytes.insert(bytes.end(), jump.code.begin(), jump.code.begin() + jump.instruction.length);
  return arch::Native::sled_state(bytes, core::SledKind::exit, 0) == arch::SledState::patched;
}

}  // namespace sp::supervisor
