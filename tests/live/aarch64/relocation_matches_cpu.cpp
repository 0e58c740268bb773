// The CPU executes every relocatable AArch64 instruction in place and from its copy. The results
// must not differ.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/aarch64/relocate.h"
#include "live/aarch64/scratch_cpu.h"

namespace sp::arch::aarch64 {
namespace {

constexpr std::uint64_t kCopy = kScratch + 3072;
constexpr unsigned kTries = 150;

// The only stores are to the stack, which lies in the scratch memory.
constexpr std::array kFamilies = {
    Family{"b", 0xFFF00000, 0x14000000},
    Family{"bl", 0xFFF00000, 0x94000000},
    Family{"b.cond", 0xFF000010, 0x54000000},
    Family{"cbz, cbnz", 0x7E000000, 0x34000000},
    Family{"tbz, tbnz", 0x7E000000, 0x36000000},
    Family{"br", 0xFFFFFC1F, 0xD61F0000},
    Family{"blr", 0xFFFFFC1F, 0xD63F0000},
    Family{"ret", 0xFFFFFC1F, 0xD65F0000},
    Family{"adr, adrp", 0x1F000000, 0x10000000},
    Family{"add, sub of an immediate", 0x1F800000, 0x11000000},
    Family{"add, sub of a register", 0x1F20FC00, 0x0B000000},
    Family{"and, orr, eor", 0x1F20FC00, 0x0A000000},
    Family{"csel", 0x7FE00C00, 0x1A800000},
    Family{"madd", 0x7FE08000, 0x1B000000},
    Family{"ldr of a literal", 0xBF000000, 0x18000000},
    Family{"ldrsw of a literal", 0xFF000000, 0x98000000},
    Family{"stp pre-index", 0xFFC003E0, 0xA98003E0},
    Family{"ldp", 0xFFC003E0, 0xA94003E0},
    Family{"ldr of an immediate", 0xFFF80000, 0xF9400000},
};

void put(std::span<std::byte> memory, std::uint64_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, memory.begin() + static_cast<std::ptrdiff_t>(offset));
}

/// Runs the copy until control leaves it, or until a signal.
Cpu::Outcome run_copy(Cpu& cpu, const Registers& before, core::AddressRange copy) {
  Cpu::Outcome outcome{before, SIGTRAP};
  outcome.registers.pc = copy.begin.value();
  constexpr int kMostInstructions = 8;
  for (int i = 0; i < kMostInstructions && outcome.signal == SIGTRAP &&
                  copy.contains(core::Address{outcome.registers.pc});
       ++i) {
    outcome = cpu.step(outcome.registers);
  }
  return outcome;
}

enum class Compared { same, refused };

/// Runs one instruction in both places.
Compared compare_once(Cpu& cpu, const Registers& before, std::uint32_t word) {
  const std::vector<std::byte> code = bytes_of(word);
  const core::Address to{kCopy};
  put(cpu.scratch(), before.pc - kScratch, code);
  const auto copy = relocate(code, core::Address{before.pc}, to);
  if (!copy) {
    return Compared::refused;
  }
  EXPECT_LE(copy->size(), kLongestRelocation);
  put(cpu.scratch(), kCopy - kScratch, *copy);
  const std::string what = in_hex(code) + "as " + in_hex(*copy);

  const std::vector<std::byte> memory(cpu.scratch().begin(), cpu.scratch().end());
  const Cpu::Outcome in_place = cpu.step(before);
  const std::vector<std::byte> expected(cpu.scratch().begin(), cpu.scratch().end());
  put(cpu.scratch(), 0, memory);
  const Cpu::Outcome copied = run_copy(cpu, before, {to, to + copy->size()});
  EXPECT_EQ(copied.signal, in_place.signal) << what;
  if (in_place.signal == SIGTRAP) {
    expect_same(in_place.registers, copied.registers, what);
    EXPECT_TRUE(std::ranges::equal(expected, cpu.scratch())) << what;
  }
  put(cpu.scratch(), 0, memory);
  return Compared::same;
}

TEST(Relocation, does_the_same_as_the_instruction_in_its_place) {
  Cpu cpu;
  ASSERT_TRUE(cpu.ready());
  const OneCpu one_cpu(cpu.pid());
  const Random::result_type seed = seed_from(20240301);
  SCOPED_TRACE(record_run(seed));
  Random random(seed);
  std::size_t compared = 0;
  for (const Family& family : kFamilies) {
    fill(cpu.scratch(), random);
    std::map<Compared, unsigned> count;
    for (unsigned i = 0; i < kTries; ++i) {
      Registers before = random_registers(random, cpu.initial());
      before.sp = kMiddle + below(random, 32) * 16 - 256;
      ++count[compare_once(cpu, before, random_instruction(random, family))];
      ASSERT_FALSE(testing::Test::HasFailure()) << family.name;
    }
    EXPECT_GT(count[Compared::same], kTries / 10) << family.name;
    compared += count[Compared::same];
  }
  RecordProperty("compared", std::to_string(compared));
}

}  // namespace
}  // namespace sp::arch::aarch64
