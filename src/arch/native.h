#pragma once

// The only file with conditionals on the CPU.
#if defined(__x86_64__)
#include "arch/x86_64/isa.h"
#include "arch/x86_64/live_patch.h"
#include "arch/x86_64/ticks.h"
#include "arch/x86_64/transfer_stub.h"
#include "arch/x86_64/trap_handler.h"
namespace sp::arch {
using Native = x86_64::X86_64;
namespace native = x86_64;
using NativeLivePatch = x86_64::LivePatch;
using NativeTrapHandler = x86_64::TrapHandler;
using NativeTransferStub = x86_64::TransferStub;
inline std::uint64_t native_ticks() { return x86_64::ticks(); }
using x86_64::kTicksInstruction;
inline bool are_native_ticks_steady() { return x86_64::are_ticks_steady(); }
/// core::CopyPlace's.
constexpr bool native_adds_in_memory() { return true; }
}  // namespace sp::arch
#elif defined(__aarch64__)
#include "arch/aarch64/atomics.h"
#include "arch/aarch64/isa.h"
#include "arch/aarch64/live_patch.h"
#include "arch/aarch64/ticks.h"
#include "arch/aarch64/transfer_stub.h"
#include "arch/aarch64/trap_handler.h"
namespace sp::arch {
using Native = aarch64::AArch64;
namespace native = aarch64;
using NativeLivePatch = aarch64::LivePatch;
using NativeTrapHandler = aarch64::TrapHandler;
using NativeTransferStub = aarch64::TransferStub;
inline std::uint64_t native_ticks() { return aarch64::ticks(); }
using aarch64::kTicksInstruction;
constexpr bool are_native_ticks_steady() { return true; }  // Arm ARM: of the system counter
inline bool native_adds_in_memory() { return aarch64::adds_in_memory(); }
}  // namespace sp::arch
#else
#error "superprofiler knows x86_64 and aarch64"
#endif
