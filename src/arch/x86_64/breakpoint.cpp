#include "arch/x86_64/breakpoint.h"

namespace sp::arch::x86_64 {

core::Address breakpoint_of_trap(core::Address pc) { return pc - kBreakpoint.size(); }

}  // namespace sp::arch::x86_64
