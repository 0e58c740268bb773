#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/jump_table.h"
#include "bytes.h"

namespace sp::arch::x86_64 {
namespace {

using core::Address;

/// Straight-line code from 0x1000 on.
JumpOnPath follow(const std::string& hex, const std::vector<KnownRegister>& known = {}) {
  const auto code = bytes_of(hex);
  std::vector<PathInstruction> path;
  for (std::size_t at = 0; at < code.size();) {
    const auto left = std::span(code).subspan(at);
    const auto encoding = read_encoding(left);
    if (!encoding) {
      ADD_FAILURE() << hex;
      return {};
    }
    path.push_back({Address{0x1000 + at}, left.first(encoding->length)});
    at += encoding->length;
  }
  return jump_on_path(path, known);
}

TEST(X86JumpTable, reads_a_table_of_offsets) {
  // cmp edi,7; ja; mov edi,edi; lea rdx,[rip+0x100]; movslq rax,[rdx+rdi*4]; add rax,rdx;
  // notrack jmp rax
  const auto said = follow("83ff07 7720 89ff 488d1500010000 486304ba 4801d0 3effe0");
  ASSERT_TRUE(said.table);
  EXPECT_TRUE(said.is_checked);
  EXPECT_EQ(*said.table, (JumpTable{Address{0x110E}, 8, 4, true, 0, Address{0x110E}}));
}

TEST(X86JumpTable, reads_a_table_of_addresses) {
  // cmp edi,7; ja; mov edi,edi; jmp [rdi*8+0x402010]
  const auto said = follow("83ff07 7720 89ff ff24fd10204000");
  ASSERT_TRUE(said.table);
  EXPECT_EQ(*said.table, (JumpTable{Address{0x402010}, 8, 8, false, 0, Address{0}}));
}

TEST(X86JumpTable, begins_where_the_smallest_case_is) {
  // lea rax,[rdi-10]; cmp rax,6; ja; jmp [rdi*8+0x402010]
  const auto said = follow("488d47f6 4883f806 7720 ff24fd10204000");
  ASSERT_TRUE(said.table);
  EXPECT_EQ(*said.table, (JumpTable{Address{0x402060}, 7, 8, false, 0, Address{0}}));
}

TEST(X86JumpTable, counts_one_less_where_the_last_one_went_elsewhere) {
  // cmp edi,7; je; ja; mov edi,edi; jmp [rdi*8+0x402010]
  const auto said = follow("83ff07 7430 7720 89ff ff24fd10204000");
  ASSERT_TRUE(said.table);
  EXPECT_EQ(said.table->entries, 7U);
}

TEST(X86JumpTable, calls_the_range_of_a_byte_unchecked) {
  // movzx eax, byte [rdi]; jmp [rax*8+0x402010]
  const auto said = follow("0fb607 ff24c510204000");
  ASSERT_TRUE(said.table);
  EXPECT_FALSE(said.is_checked);
  EXPECT_EQ(said.table->entries, 256U);
}

TEST(X86JumpTable, asks_for_a_base_that_stands_further_up) {
  // cmp edi,7; ja; mov edi,edi; movslq rax,[rbx+rdi*4]; add rax,rbx; jmp rax
  const std::string code = "83ff07 7720 89ff 486304bb 4801d8 ffe0";
  EXPECT_EQ(follow(code).wanted, 3U);
  const auto said = follow(code, {{3, 0x5000}});
  ASSERT_TRUE(said.table);
  EXPECT_EQ(said.table->first, Address{0x5000});
}

TEST(X86JumpTable, knows_no_bound_without_a_check) {
  EXPECT_FALSE(follow("89ff ff24fd10204000").table);
  EXPECT_FALSE(follow("83ff07 7720 8b3e ff24fd10204000").table);  // edi is read anew
}

TEST(X86JumpTable, does_not_take_a_pointer_for_a_table) {
  const auto said = follow("83ff07 7720 488b07 ff6018");  // mov rax,[rdi]; jmp [rax+0x18]
  EXPECT_FALSE(said.table);
}

TEST(X86JumpTable, knows_what_instructions_leave_in_a_register) {
  const auto code = bytes_of("488d1d00010000");  // lea rbx,[rip+0x100]
  const auto effect = effect_on({Address{0x1000}, code}, 3);
  EXPECT_TRUE(effect.changes);
  EXPECT_EQ(effect.constant, 0x1107U);
  EXPECT_FALSE(effect_on({Address{0x1000}, code}, 0).changes);
  const auto call = bytes_of("e800000000");
  EXPECT_TRUE(effect_on({Address{0x1000}, call}, 0).changes);
  EXPECT_FALSE(effect_on({Address{0x1000}, call}, 3).changes);
  const auto sum = bytes_of("488d5810");  // lea rbx,[rax+0x10]
  const auto added = effect_on({Address{0x1000}, sum}, 3);
  EXPECT_EQ(added.constant, 0x10U);
  EXPECT_EQ(added.added_to, 0U);
}

}  // namespace
}  // namespace sp::arch::x86_64
