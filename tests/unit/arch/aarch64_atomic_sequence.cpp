#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "arch/aarch64/atomic_sequence.h"
#include "bytes.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;

constexpr Address kFrom{0x401000};
constexpr Address kTo{0x501000};

std::vector<std::byte> code_of(std::initializer_list<std::uint32_t> words) {
  std::vector<std::byte> code;
  for (const std::uint32_t word : words) {
    const auto bytes = bytes_of_word(word);
    code.insert(code.end(), bytes.begin(), bytes.end());
  }
  return code;
}

// ldaxr w3, [x0]; cmp w3, w1; b.ne 0x401014; stxr w4, w2, [x0]; cbnz w4, 0x401000; ret
const std::vector<std::byte> kCompareAndSwap =
    code_of({0x885ffc03, 0x6b01007f, 0x54000061, 0x88047c02, 0x35ffff84, 0xd65f03c0});

TEST(AArch64Exclusive, ends_at_the_store) {
  EXPECT_EQ(atomic_sequence_length(kCompareAndSwap), 16U);
  EXPECT_EQ(atomic_sequence_length(std::span(kCompareAndSwap).subspan(4)), 0U);
  EXPECT_EQ(atomic_sequence_length(code_of({0xc85f7c03, 0xc8047c02})), 8U);  // 64 bits
  EXPECT_EQ(atomic_sequence_length(code_of({0xc87f0c02, 0xc8241402})), 8U);  // ldxp, stxp
}

TEST(AArch64Exclusive, is_none_without_a_store) {
  EXPECT_EQ(atomic_sequence_length(code_of({0x885ffc03, 0xd65f03c0})), 0U);
  EXPECT_EQ(atomic_sequence_length(code_of({0x885ffc03, 0x885ffc03, 0x88047c02})), 0U);
  EXPECT_EQ(atomic_sequence_length(code_of({0x08207c82, 0x88047c02})), 0U);  // casp
  EXPECT_EQ(atomic_sequence_length({}), 0U);
}

TEST(AArch64Exclusive, leaves_its_copy_by_jumps_behind_it) {
  const auto copy = relocate_atomic_sequence(kCompareAndSwap, kFrom, kTo);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->code, code_of({0x885ffc03, 0x6b01007f, 0x54000061, 0x88047c02,  //
                                 0x17fc0000,                                      // b 0x401010
                                 0x17fc0000}));                                   // b 0x401014
  ASSERT_EQ(copy->exits.size(), 2U);
  EXPECT_EQ(copy->exits[0].offset, 16U);
  EXPECT_EQ(copy->exits[0].to, Address{0x401010});
  EXPECT_EQ(copy->exits[1].offset, 20U);
  EXPECT_EQ(copy->exits[1].to, Address{0x401014});
}

TEST(AArch64Exclusive, is_not_copied_with_what_depends_on_its_place) {
  EXPECT_FALSE(relocate_atomic_sequence(code_of({0x885ffc03, 0x10000000, 0x88047c02}), kFrom, kTo));
  EXPECT_FALSE(relocate_atomic_sequence(code_of({0x885ffc03, 0x94000010, 0x88047c02}), kFrom, kTo));
  EXPECT_FALSE(relocate_atomic_sequence(kCompareAndSwap, kFrom, kFrom + (std::uint64_t{1} << 30U)));
}

}  // namespace
}  // namespace sp::arch::aarch64
