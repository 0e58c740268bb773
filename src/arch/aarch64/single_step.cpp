#include "arch/aarch64/single_step.h"

namespace sp::arch::aarch64 {

bool hide_step(std::span<const std::byte> /*code*/, Registers& /*registers*/,
               MemoryAccess& /*memory*/) {
  return false;
}

bool steps_itself(const Registers& /*registers*/) { return false; }

}  // namespace sp::arch::aarch64
