#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/flags.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"
#include "live/scratch.h"

// Random states and instructions for a traced child that runs them.
namespace sp::arch::x86_64 {

using namespace sp::test;  // NOLINT
using Cpu = ScratchCpu<Registers>;

/// With a stack pointer that is not canonical, instructions that do not use it fault, too, in some
/// virtual machines (AMD under Linux 6.18: a general protection fault at a step).
inline std::uint64_t canonical(std::uint64_t address) {
  constexpr std::uint64_t kUserSpace = (std::uint64_t{1} << 47U) - 1;
  return address & kUserSpace;
}

inline Registers random_registers(Random& random, const Registers& initial) {
  Registers registers = initial;
  registers.orig_rax = ~0ULL;  // no system call to restart
  for (auto* field :
       {&registers.rax, &registers.rbx, &registers.rcx, &registers.rdx, &registers.rsi,
        &registers.rdi, &registers.rbp, &registers.r8, &registers.r9, &registers.r10,
        &registers.r11, &registers.r12, &registers.r13, &registers.r14, &registers.r15}) {
    *field = random_value(random);
  }
  registers.rsp =
      one_in(random, 16) ? canonical(random_value(random)) : kMiddle + below(random, 192) * 8;
  registers.fs_base = one_in(random, 2) ? 0 : below(random, 256) * 8;
  registers.gs_base = one_in(random, 2) ? kMiddle : below(random, 256) * 8;
  registers.eflags = 0x202U | (random() & kArithmeticFlags);
  registers.rip = kCode + below(random, 64);
  return registers;
}

/// Where an instruction that names memory accesses it. bt, bts, btr and btc with a register reach
/// far from the address that they name.
inline std::uint64_t operand_address(Registers registers, const Encoding& encoding) {
  std::uint64_t address = effective_address(registers, encoding).value();
  const bool has_bit_offset =
      encoding.map == OpcodeMap::two_byte && (encoding.opcode & 0xE7U) == 0xA3U;
  if (has_bit_offset) {
    const std::uint64_t bits = general_register(registers, encoding.reg());
    const auto offset = encoding.wide()        ? static_cast<std::int64_t>(bits)
                        : encoding.is_narrow() ? static_cast<std::int16_t>(bits)
                                               : static_cast<std::int32_t>(bits);
    address += static_cast<std::uint64_t>(offset >> 3U);
  }
  return address;
}

/// An instruction with the given opcode, random in everything else.
inline std::vector<std::byte> random_instruction(Random& random, bool two_byte, unsigned opcode) {
  std::vector<std::byte> code;
  const auto put = [&code](std::uint64_t byte) {
    code.push_back(static_cast<std::byte>(byte & 0xFFU));
  };
  std::array<unsigned, 10> prefixes = {0x66, 0x67, 0x64, 0x65, 0xF2, 0xF3, 0x3E, 0x2E, 0x26, 0x36};
  std::ranges::shuffle(prefixes, random);
  for (const unsigned prefix : prefixes) {
    if (one_in(random, 10)) {
      put(prefix);
    }
  }
  if (one_in(random, 2)) {
    put(0x40U | below(random, 16));
  }
  if (two_byte) {
    put(0x0F);
  }
  put(opcode);
  const std::uint64_t modrm = opcode == 0x1E && two_byte ? 0xFA : below(random, 256);
  put(modrm);  // where the opcode has one; else it is the first byte of the immediate
  const bool has_sib = modrm < 0xC0 && (modrm & 7U) == 4;
  if (has_sib) {
    put(random());
  }
  // A possible displacement: small, or the distance from 0 or from rip to the scratch memory.
  const std::uint64_t to_scratch = one_in(random, 2) ? kMiddle : kMiddle - kCode;
  const std::uint64_t displacement = one_in(random, 3) ? to_scratch : below(random, 512) - 256;
  for (unsigned i = 0; i < 4; ++i) {
    put(displacement >> (8 * i));
  }
  while (code.size() < kLongestInstruction) {
    put(random());
  }
  return code;
}

/// `ignored` flags are not compared.
inline void expect_same(const Registers& expected, Registers native, std::uint64_t ignored,
                        const std::string& what) {
  constexpr std::uint64_t kResumeAndTrap = 0x10100;  // the single step's own
  ignored |= kResumeAndTrap;
  native.eflags = (native.eflags & ~ignored) | (expected.eflags & ignored);
  if (expected == native) {
    return;
  }
  ADD_FAILURE() << what << std::hex << "\n rip " << expected.rip << " got " << native.rip
                << "\n eflags " << expected.eflags << " got " << native.eflags << "\n rsp "
                << expected.rsp << " got " << native.rsp;
  for (unsigned number = 0; number < 16; ++number) {
    Registers ours = expected;
    EXPECT_EQ(general_register(ours, number), general_register(native, number))
        << "register " << number;
  }
}

}  // namespace sp::arch::x86_64
