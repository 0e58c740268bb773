// A traced child single-steps every instruction that the x86-64 emulation supports, from the same
// registers, flags and memory. The results must not differ except in flags that the manuals leave
// undefined.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/x86_64/emulate.h"
#include "arch/x86_64/isa.h"
#include "live/copied_memory.h"
#include "live/x86_64/scratch_cpu.h"
#include "live/x86_64/undefined_flags.h"

namespace sp::arch::x86_64 {
namespace {

/// Emulates and runs one instruction; returns the emulation's answer.
Emulated compare_once(Cpu& cpu, Random& random, std::span<const std::byte> code) {
  const Registers before = random_registers(random, cpu.initial());
  std::ranges::copy(code,
                    cpu.scratch().begin() + static_cast<std::ptrdiff_t>(before.rip - kScratch));
  CopiedMemory memory(cpu.scratch());
  Registers emulated = before;
  const Emulated answer = emulate(emulated, code, memory);
  const std::string what = in_hex(code) + "from rip " + std::to_string(before.rip);
  if (answer != Emulated::done) {
    EXPECT_EQ(emulated, before) << what;
    EXPECT_TRUE(memory.equals(cpu.scratch())) << what;
    return answer;
  }
  const Cpu::Outcome native = cpu.step(before);
  EXPECT_EQ(native.signal, SIGTRAP) << what;
  expect_same(emulated, native.registers, undefined_flags(code), what);
  EXPECT_TRUE(memory.equals(cpu.scratch())) << what;
  return answer;
}

constexpr unsigned kTriesPerOpcode = 1000;
constexpr unsigned kFewestDone = 6;  // of the rarest form, mov of an immediate by C7, some 24

TEST(Emulation, matches_the_cpu_in_every_register_flag_and_byte) {
  Cpu cpu;
  ASSERT_TRUE(cpu.ready());
  const OneCpu one_cpu(cpu.pid());
  const Random::result_type seed = seed_from(20240229);
  SCOPED_TRACE(record_run(seed));
  Random random(seed);
  std::map<unsigned, unsigned> done;  // by opcode, those of the two-byte map from 256 on
  std::size_t compared = 0;
  for (unsigned opcode = 0; opcode < 512 && !testing::Test::HasFailure(); ++opcode) {
    fill(cpu.scratch(), random);
    for (unsigned i = 0; i < kTriesPerOpcode && !testing::Test::HasFailure(); ++i) {
      const auto code = random_instruction(random, opcode >= 256, opcode & 0xFFU);
      if (compare_once(cpu, random, code) == Emulated::done) {
        ++done[opcode];
        ++compared;
      }
    }
  }
  RecordProperty("compared", std::to_string(compared));

  std::vector<unsigned> expected = {0x50, 0x57,  0x58,  0x5F,  0x63,  0x68, 0x6A, 0x80, 0x81, 0x83,
                                    0x84, 0x85,  0x88,  0x89,  0x8A,  0x8B, 0x8D, 0x90, 0x98, 0x99,
                                    0xA8, 0xA9,  0xB0,  0xB8,  0xBF,  0xC2, 0xC3, 0xC6, 0xC7, 0xC9,
                                    0xE0, 0xE1,  0xE2,  0xE3,  0xE8,  0xE9, 0xEB, 0xF6, 0xF7, 0xFE,
                                    0xFF, 0x11F, 0x1B6, 0x1B7, 0x1BE, 0x1BF};
  for (unsigned condition = 0; condition < 16; ++condition) {
    for (const unsigned family : {0x70U, 0x140U, 0x180U, 0x190U}) {
      expected.push_back(family + condition);
    }
  }
  for (unsigned operation = 0; operation < 8; ++operation) {
    for (unsigned form = 0; form < 6; ++form) {
      expected.push_back(operation * 8 + form);
    }
  }
  for (const unsigned opcode : expected) {
    EXPECT_GT(done[opcode], kFewestDone) << "opcode " << std::hex << opcode;
  }
}

}  // namespace
}  // namespace sp::arch::x86_64
