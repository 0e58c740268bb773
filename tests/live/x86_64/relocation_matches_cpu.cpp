// The CPU executes every relocatable x86-64 instruction in place and from its copy, near and out of
// reach. The results must not differ except in flags that the manuals leave undefined.

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "arch/x86_64/isa.h"
#include "arch/x86_64/relocate.h"
#include "live/x86_64/scratch_cpu.h"
#include "live/x86_64/undefined_flags.h"

namespace sp::arch::x86_64 {
namespace {

constexpr std::uint64_t kNearCopy = kScratch + 1024;
constexpr unsigned kTriesPerOpcode = 240;
constexpr unsigned kFewestDone = 8;  // of the rarest, pop by 8F, some 50

void put(std::span<std::byte> memory, std::uint64_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, memory.begin() + static_cast<std::ptrdiff_t>(offset));
}

/// Runs the copy until control leaves it, or until a signal.
Cpu::Outcome run_copy(Cpu& cpu, const Registers& before, core::AddressRange copy) {
  Cpu::Outcome outcome{before, SIGTRAP};
  outcome.registers.rip = copy.begin.value();
  constexpr int kMostInstructions = 6;
  for (int i = 0; i < kMostInstructions && outcome.signal == SIGTRAP &&
                  copy.contains(core::Address{outcome.registers.rip});
       ++i) {
    outcome = cpu.step(outcome.registers);
  }
  return outcome;
}

/// False if the second run could see a wild store of the first one, or if the instruction may
/// overwrite its copy.
bool stays_in_scratch(const Registers& registers, std::span<const std::byte> code) {
  const auto encoding = read_encoding(code);
  const auto is_inside = [](std::uint64_t address) {
    return address >= kScratch + 64 && address < kScratch + kScratchSize - 64;
  };
  if (!is_inside(registers.rsp)) {
    return false;
  }
  if (!encoding || !encoding->names_memory()) {
    return true;
  }
  // A copied call pushes before it reads its target, so the push must not overwrite the target.
  const std::uint64_t operand = operand_address(registers, *encoding);
  const bool is_below_stack = operand + 8 > registers.rsp - 8 && operand < registers.rsp;
  const bool is_in_copy = operand + 8 > kNearCopy && operand < kNearCopy + kLongestRelocation;
  return is_inside(operand) && !is_below_stack && !is_in_copy;
}

enum class Compared { same, refused, skipped };

/// Runs one instruction in both places.
Compared compare_once(Cpu& cpu, Random& random, std::span<const std::byte> code, bool is_far) {
  const Registers before = random_registers(random, cpu.initial());
  if (!stays_in_scratch(before, code)) {
    return Compared::skipped;
  }
  const core::Address to{is_far ? kFarCode : kNearCopy};
  put(cpu.scratch(), before.rip - kScratch, code);
  const auto copy = relocate(code, core::Address{before.rip}, to);
  if (!copy) {
    return Compared::refused;
  }
  EXPECT_LE(copy->size(), kLongestRelocation);
  put(is_far ? cpu.far_code() : cpu.scratch(), is_far ? 0 : kNearCopy - kScratch, *copy);
  const std::string what = in_hex(code) + "as " + in_hex(*copy);

  const std::vector<std::byte> memory(cpu.scratch().begin(), cpu.scratch().end());
  const Cpu::Outcome in_place = cpu.step(before);
  const std::vector<std::byte> expected(cpu.scratch().begin(), cpu.scratch().end());
  put(cpu.scratch(), 0, memory);
  if (to.value() <= in_place.registers.rip && in_place.registers.rip < to.value() + copy->size()) {
    return Compared::skipped;  // a jump into the copy: run_copy() would not see it leave
  }
  const Cpu::Outcome copied = run_copy(cpu, before, {to, to + copy->size()});
  if (copied.signal == SIGSEGV && in_place.registers.rsp != canonical(in_place.registers.rsp)) {
    put(cpu.scratch(), 0, memory);
    return Compared::skipped;  // the jump behind the copy has faulted; see canonical()
  }
  EXPECT_EQ(copied.signal, in_place.signal) << what;
  if (in_place.signal == SIGTRAP) {
    expect_same(in_place.registers, copied.registers, undefined_flags(code), what);
    EXPECT_TRUE(std::ranges::equal(expected, cpu.scratch())) << what;
  }
  put(cpu.scratch(), 0, memory);
  return Compared::same;
}

/// Opcodes that are deterministic and affect only general registers, flags and memory.
std::vector<unsigned> opcodes() {
  std::vector<unsigned> chosen;
  const auto add = [&chosen](unsigned first, unsigned last) {
    for (unsigned opcode = first; opcode <= last; ++opcode) {
      chosen.push_back(opcode);
    }
  };
  for (unsigned row = 0; row < 0x40; row += 8) {
    add(row, row + 5);
  }
  add(0x50, 0x5F);
  add(0x68, 0x6B);
  add(0x70, 0x81);
  add(0x83, 0x8B);
  for (const unsigned opcode : {0x63U, 0x8DU, 0x8FU, 0x98U, 0x99U, 0xC6U, 0xC7U, 0xC9U}) {
    chosen.push_back(opcode);
  }
  add(0xA8, 0xA9);
  add(0xB0, 0xC3);
  add(0xD0, 0xD3);
  add(0xE0, 0xE3);
  add(0xE8, 0xE9);
  add(0xEB, 0xEB);
  add(0xF6, 0xF7);
  add(0xFE, 0xFF);
  add(0x140, 0x14F);
  add(0x180, 0x19F);
  add(0x1A4, 0x1A5);
  add(0x1AC, 0x1AD);
  add(0x1AF, 0x1B1);
  add(0x1B6, 0x1B7);
  add(0x1BA, 0x1BA);
  add(0x1BC, 0x1C1);
  add(0x1C8, 0x1CF);
  return chosen;
}

TEST(Relocation, does_the_same_as_the_instruction_in_its_place) {
  Cpu cpu;
  ASSERT_TRUE(cpu.ready());
  const OneCpu one_cpu(cpu.pid());
  const Random::result_type seed = seed_from(20240301);
  SCOPED_TRACE(record_run(seed));
  Random random(seed);
  std::size_t compared = 0;
  for (const unsigned opcode : opcodes()) {
    fill(cpu.scratch(), random);
    std::map<Compared, unsigned> count;
    for (unsigned i = 0; i < kTriesPerOpcode; ++i) {
      const auto code = random_instruction(random, opcode >= 256, opcode & 0xFFU);
      ++count[compare_once(cpu, random, code, one_in(random, 2))];
      ASSERT_FALSE(testing::Test::HasFailure());
    }
    EXPECT_GT(count[Compared::same], kFewestDone) << "opcode " << std::hex << opcode;
    compared += count[Compared::same];
  }
  RecordProperty("compared", std::to_string(compared));
}

}  // namespace
}  // namespace sp::arch::x86_64
