// A traced child single-steps every instruction that the AArch64 emulation supports, from the same
// registers, flags and memory. The results must not differ.

#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "arch/aarch64/emulate.h"
#include "live/aarch64/scratch_cpu.h"
#include "live/copied_memory.h"

namespace sp::arch::aarch64 {
namespace {

constexpr std::array kFamilies = {
    Family{"b", 0xFC000000, 0x14000000},
    Family{"bl", 0xFC000000, 0x94000000},
    Family{"b.cond", 0xFF000010, 0x54000000},
    Family{"cbz, cbnz", 0x7E000000, 0x34000000},
    Family{"tbz, tbnz", 0x7E000000, 0x36000000},
    Family{"br", 0xFFFFFC1F, 0xD61F0000},
    Family{"blr", 0xFFFFFC1F, 0xD63F0000},
    Family{"ret", 0xFFFFFC1F, 0xD65F0000},
    Family{"adr, adrp", 0x1F000000, 0x10000000},
    Family{"add, sub of an immediate", 0x1F800000, 0x11000000},
    Family{"movn, movz, movk", 0x1F800000, 0x12800000},
    Family{"mov of a register", 0x7FE0FFE0, 0x2A0003E0},
    Family{"nop", 0xFFFFFFFF, 0xD503201F},
    Family{"yield", 0xFFFFFFFF, 0xD503203F},
    Family{"bti", 0xFFFFFF3F, 0xD503241F},
    Family{"ldr of a literal", 0x3F000000, 0x18000000},
    Family{"stp pre-index", 0xFFC003E0, 0xA98003E0},
    Family{"str pre-index", 0xFFE00FE0, 0xF8000FE0},
    Family{"ldp post-index", 0xFFC003E0, 0xA8C003E0},
    Family{"ldp", 0xFFC003E0, 0xA94003E0},
    Family{"ldr post-index", 0xFFE00FE0, 0xF84007E0},
};
constexpr unsigned kTries = 400;

void put(const Cpu& cpu, std::uint64_t at, std::uint32_t word) {
  std::ranges::copy(bytes_of(word),
                    cpu.scratch().begin() + static_cast<std::ptrdiff_t>(at - kScratch));
}

/// Emulates and runs one instruction; returns the emulation's answer.
Emulated compare_once(Cpu& cpu, const Registers& before, std::uint32_t word) {
  put(cpu, before.pc, word);
  CopiedMemory memory(cpu.scratch());
  Registers emulated = before;
  const std::vector<std::byte> code = bytes_of(word);
  const Emulated answer = emulate(emulated, code, memory);
  const std::string what = in_hex(code) + "from pc " + std::to_string(before.pc);
  if (answer != Emulated::done) {
    EXPECT_EQ(emulated, before) << what;
    EXPECT_TRUE(memory.equals(cpu.scratch())) << what;
    return answer;
  }
  const Cpu::Outcome native = cpu.step(before);
  EXPECT_EQ(native.signal, SIGTRAP) << what;
  expect_same(emulated, native.registers, what);
  EXPECT_TRUE(memory.equals(cpu.scratch())) << what;
  return answer;
}

TEST(Emulation, matches_the_cpu_in_every_register_flag_and_byte) {
  Cpu cpu;
  ASSERT_TRUE(cpu.ready());
  const OneCpu one_cpu(cpu.pid());
  const Random::result_type seed = seed_from(20240229);
  SCOPED_TRACE(record_run(seed));
  Random random(seed);
  std::size_t compared = 0;
  for (const Family& family : kFamilies) {
    fill(cpu.scratch(), random);
    unsigned done = 0;
    for (unsigned i = 0; i < kTries && !testing::Test::HasFailure(); ++i) {
      const Registers before = random_registers(random, cpu.initial());
      if (compare_once(cpu, before, random_instruction(random, family)) == Emulated::done) {
        ++done;
      }
    }
    EXPECT_GT(done, kTries / 10) << family.name;
    compared += done;
  }
  RecordProperty("compared", std::to_string(compared));
}

TEST(Emulation, follows_signed_pointers_as_the_cpu_does) {
  if ((::getauxval(AT_HWCAP) & HWCAP_PACA) == 0) {
    GTEST_SKIP() << "this CPU signs no pointers";
  }
  Cpu cpu;
  ASSERT_TRUE(cpu.ready());
  const OneCpu one_cpu(cpu.pid());
  const Random::result_type seed = seed_from(20240302);
  SCOPED_TRACE(record_run(seed));
  Random random(seed);
  constexpr std::uint32_t kPacia = 0xDAC10000;   // x0 with x1
  constexpr std::uint32_t kPaciza = 0xDAC123E0;  // x0 with 0
  constexpr std::uint32_t kPaciasp = 0xD503233F;
  constexpr std::uint32_t kBraa = 0xD71F0801;   // x0, x1
  constexpr std::uint32_t kBlraa = 0xD73F0801;  // x0, x1
  constexpr std::uint32_t kBraaz = 0xD61F081F;
  constexpr std::uint32_t kBlraaz = 0xD63F081F;
  constexpr std::uint32_t kRetaa = 0xD65F0BFF;
  struct Pair {
    std::uint32_t sign;
    std::uint32_t branch;
  };
  for (const auto& [sign, branch] :
       {Pair{kPacia | 1U << 5U, kBraa}, Pair{kPacia | 1U << 5U, kBlraa}, Pair{kPaciza, kBraaz},
        Pair{kPaciza, kBlraaz}, Pair{kPaciasp, kRetaa}}) {
    for (unsigned i = 0; i < kTries / 4 && !testing::Test::HasFailure(); ++i) {
      Registers before = random_registers(random, cpu.initial());
      before.sp = kMiddle;
      before.x[0] = before.x[30] = kScratch + below(random, 1024) * 4;
      put(cpu, before.pc, sign);
      Registers with_signature = cpu.step(before).registers;
      with_signature.pstate &= ~kStepAndBranchType;
      EXPECT_EQ(compare_once(cpu, with_signature, branch), Emulated::done);
    }
  }
}

}  // namespace
}  // namespace sp::arch::aarch64
