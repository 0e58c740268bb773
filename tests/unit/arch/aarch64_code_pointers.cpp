#include <gtest/gtest.h>

#include "arch/aarch64/code_pointers.h"
#include "bytes.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;

constexpr Address kAt{0x401000};

std::vector<std::byte> code(std::initializer_list<std::uint32_t> words) {
  std::vector<std::byte> all;
  for (const std::uint32_t word : words) {
    const auto bytes = bytes_of_word(word);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

TEST(AArch64CodePointers, of_adr_is_its_value) {
  EXPECT_EQ(code_pointers(code({0x10000800}), kAt), std::vector<std::uint64_t>{0x401100});
  EXPECT_EQ(named_memory(code({0x10000800}), kAt), 0x401100);
}

TEST(AArch64CodePointers, of_adrp_are_its_page_and_what_is_added) {
  // adrp x0, 0x406000; mov x1, x2; add x3, x0, #0x10; add x0, x0, #0x20; adrp x0; add x0, x0, #1
  const auto there = code({0xB0000020, 0xAA0203E1, 0x91004003, 0x91008000, 0xB0000020, 0x91000400});
  EXPECT_EQ(code_pointers(there, kAt), (std::vector<std::uint64_t>{0x406010, 0x406020}));
  EXPECT_EQ(named_memory(there, kAt), 0x406010);
  EXPECT_EQ(code_pointers(code({0xB0000020}), kAt), std::vector<std::uint64_t>{});
}

TEST(AArch64CodePointers, of_accesses_are_memory_alone) {
  const auto there = code({0xB0000020, 0xF9400801});  // adrp x0; ldr x1, [x0, #16]
  EXPECT_TRUE(code_pointers(there, kAt).empty());
  EXPECT_EQ(named_memory(there, kAt), 0x406010);
  EXPECT_EQ(named_memory(code({0x58000800}), kAt), 0x401100);  // ldr x0, literal
  EXPECT_FALSE(named_memory(code({0xF9400801}), kAt));
}

}  // namespace
}  // namespace sp::arch::aarch64
