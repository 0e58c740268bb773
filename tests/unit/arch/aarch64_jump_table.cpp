#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "arch/aarch64/jump_table.h"
#include "bytes.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;

/// Straight-line code from 0x1000 on.
JumpOnPath follow(const std::vector<std::uint32_t>& words,
                  const std::vector<KnownRegister>& known = {}) {
  std::vector<std::vector<std::byte>> bytes;
  bytes.reserve(words.size());
  for (const std::uint32_t word : words) {
    bytes.push_back(bytes_of_word(word));
  }
  std::vector<PathInstruction> path;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    path.push_back({Address{0x1000 + 4 * i}, bytes[i]});
  }
  return jump_on_path(path, known);
}

TEST(AArch64JumpTable, reads_clangs_table_of_words) {
  const auto said = follow({
      0x51019108,  // sub w8, w8, #0x64
      0x7100251F,  // cmp w8, #0x9
      0x540003C8,  // b.hi elsewhere
      0x90000009,  // adrp x9, 0x1000
      0x91010129,  // add x9, x9, #0x40
      0x1000000A,  // adr x10, 0x1014
      0xB8A8792B,  // ldrsw x11, [x9, x8, lsl #2]
      0x8B0B014A,  // add x10, x10, x11
      0xD61F0140,  // br x10
  });
  ASSERT_TRUE(said.table);
  EXPECT_TRUE(said.is_checked);
  EXPECT_EQ(*said.table, (JumpTable{Address{0x1040}, 10, 4, true, 0, Address{0x1014}}));
}

TEST(AArch64JumpTable, reads_gccs_table_of_bytes) {
  const auto said = follow({
      0x71004C1F,  // cmp w0, #0x13
      0x540003C8,  // b.hi elsewhere
      0x90000001,  // adrp x1, 0x1000
      0x91010021,  // add x1, x1, #0x40
      0x38604821,  // ldrb w1, [x1, w0, uxtw]
      0x10000060,  // adr x0, 0x1020
      0x8B218800,  // add x0, x0, w1, sxtb #2
      0xD61F0000,  // br x0
  });
  ASSERT_TRUE(said.table);
  EXPECT_EQ(*said.table, (JumpTable{Address{0x1040}, 20, 1, true, 2, Address{0x1020}}));
}

TEST(AArch64JumpTable, asks_for_a_base_that_stands_further_up) {
  const std::vector<std::uint32_t> code = {
      0x7100251F,  // cmp w8, #0x9
      0x540003C8,  // b.hi elsewhere
      0xF8685A60,  // ldr x0, [x19, w8, uxtw #3]
      0xD61F0000,  // br x0
  };
  EXPECT_EQ(follow(code).wanted, 19U);
  const auto said = follow(code, {{19, 0x4000}});
  ASSERT_TRUE(said.table);
  EXPECT_EQ(*said.table, (JumpTable{Address{0x4000}, 10, 8, false, 0, Address{0}}));
}

TEST(AArch64JumpTable, knows_no_bound_without_a_check) {
  EXPECT_FALSE(follow({0xF8685A60, 0xD61F0000}, {{19, 0x4000}}).table);
}

TEST(AArch64JumpTable, does_not_trust_a_check_of_what_a_call_has_overwritten) {
  const auto said =
      follow({0x7100251F, 0x540003C8, 0x94000010, 0xF8685A60, 0xD61F0000}, {{19, 0x4000}});
  EXPECT_FALSE(said.table);
}

}  // namespace
}  // namespace sp::arch::aarch64
