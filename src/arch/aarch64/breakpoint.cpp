#include "arch/aarch64/breakpoint.h"

namespace sp::arch::aarch64 {

core::Address breakpoint_of_trap(core::Address pc) { return pc; }

}  // namespace sp::arch::aarch64
