#pragma once

#include <cstdint>
#include <optional>

#include "arch/emulation.h"
#include "arch/x86_64/encoding.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

inline constexpr unsigned kRax = 0;
inline constexpr unsigned kRcx = 1;
inline constexpr unsigned kRdx = 2;
inline constexpr unsigned kRsp = 4;
inline constexpr unsigned kRbp = 5;

/// The general register with this number in an instruction (rax rcx rdx rbx rsp rbp rsi rdi r8-15).
[[nodiscard]] std::uint64_t& general_register(Registers& registers, unsigned number);

/// A register's lowest `width` bytes. Without REX, the byte registers 4 to 7 are ah, ch, dh and bh.
[[nodiscard]] std::uint64_t read_register(Registers& registers, unsigned number, unsigned width,
                                          bool has_rex);
/// A write of four bytes clears the upper half; a shorter one keeps it.
void write_register(Registers& registers, unsigned number, unsigned width, bool has_rex,
                    std::uint64_t value);

/// The address that ModRM, SIB and displacement name, without the segment's base: what lea gives.
/// rip must still be that of the instruction itself.
[[nodiscard]] std::uint64_t effective_offset(Registers& registers, const Encoding& encoding);
/// The same with the base of fs or gs.
[[nodiscard]] core::Address effective_address(Registers& registers, const Encoding& encoding);

/// A little-endian number of `width` bytes; nothing if the memory cannot be read.
[[nodiscard]] std::optional<std::uint64_t> load(MemoryAccess& memory, core::Address from,
                                                unsigned width);
[[nodiscard]] bool store(MemoryAccess& memory, core::Address to, std::uint64_t value);

}  // namespace sp::arch::x86_64
