#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/aarch64/registers.h"

namespace sp::arch::aarch64 {

/// What rt_sigreturn makes a thread be: the ucontext_t of the kernel's signal frame with all
/// registers and the signal mask; the alternative stack stays as it is. `vector` and `scalable` are
/// what ptrace's NT_PRFPREG and NT_ARM_SVE say of the thread, the latter empty on CPUs without it.
/// Empty where the former is not as expected; without the latter's registers where
/// they are not in use.
[[nodiscard]] std::vector<std::byte> signal_frame(const Registers& registers, std::uint64_t mask,
                                                  std::span<const std::byte> vector,
                                                  std::span<const std::byte> scalable);

/// rt_sigreturn finds its ucontext_t so far above sp: behind a siginfo_t that it does not look at.
inline constexpr std::uint64_t kSignalFrameAboveSp = 128;

/// A register set of the scalable extensions (NT_ARM_SVE, NT_ARM_SSVE) holds their registers: they
/// are in use, else it holds NEON's or a header alone.
[[nodiscard]] bool is_scalable(std::span<const std::byte> set);

}  // namespace sp::arch::aarch64
