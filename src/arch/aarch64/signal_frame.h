#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/aarch64/registers.h"

namespace sp::arch::aarch64 {

/// The ucontext_t of a kernel signal frame, from which rt_sigreturn restores all registers and the
/// signal mask; the alternate stack stays as it is. `vector` and `scalable` are the thread's
/// NT_PRFPREG and NT_ARM_SVE register sets, the latter empty on CPUs without it. The result is
/// empty if the former has an unexpected size. It leaves out scalable registers that are not in
/// use.
[[nodiscard]] std::vector<std::byte> signal_frame(const Registers& registers, std::uint64_t mask,
                                                  std::span<const std::byte> vector,
                                                  std::span<const std::byte> scalable);

/// rt_sigreturn expects its ucontext_t so far above sp: behind a siginfo_t that it does not read.
inline constexpr std::uint64_t kSignalFrameAboveSp = 128;

/// True if a register set of the scalable extensions (NT_ARM_SVE, NT_ARM_SSVE) holds scalable
/// registers. If they are not in use, it holds NEON's or only a header.
[[nodiscard]] bool is_scalable(std::span<const std::byte> set);

}  // namespace sp::arch::aarch64
