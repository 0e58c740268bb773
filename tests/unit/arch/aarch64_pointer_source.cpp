#include <gtest/gtest.h>

#include <deque>

#include "arch/aarch64/pointer_source.h"
#include "bytes.h"

namespace sp::arch::aarch64 {
namespace {

using Kind = PointerSource::Kind;

/// Decoded instructions, with their bytes.
class Code {
 public:
  Code(std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) {
      bytes_.push_back(bytes_of_word(word));
      sources_.push_back(*read_instruction(bytes_.back(), core::Address{0x1000}));
    }
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  [[nodiscard]] std::span<const SourceInstruction> all() const { return sources_; }

 private:
  std::deque<std::vector<std::byte>> bytes_;
  std::vector<SourceInstruction> sources_;
};

Kind kind(std::uint32_t word, unsigned reg, bool has_frame_pointer = true) {
  return source_of(Code({word}).all().front(), reg, has_frame_pointer).kind;
}

TEST(AArch64PointerSource, is_memory_other_than_the_stack) {
  EXPECT_EQ(kind(0xF9400401, 1), Kind::pointer);         // ldr x1, [x0, #8]
  EXPECT_EQ(kind(0xF8627801, 1), Kind::pointer);         // ldr x1, [x0, x2, lsl #3]
  EXPECT_EQ(kind(0xF94007E1, 1), Kind::computed);        // ldr x1, [sp, #8]
  EXPECT_EQ(kind(0xF94007A1, 1), Kind::computed);        // ldr x1, [x29, #8]
  EXPECT_EQ(kind(0xF94007A1, 1, false), Kind::pointer);  // x29 is any register
  EXPECT_EQ(kind(0xB9400401, 1), Kind::computed);        // ldr w1, [x0, #4]
  EXPECT_EQ(kind(0x38626801, 1), Kind::computed);        // ldrb w1, [x0, x2]
}

TEST(AArch64PointerSource, is_another_register_behind_a_copy) {
  const auto from = source_of(Code({0xAA0203E1}).all().front(), 1, true);  // mov x1, x2
  EXPECT_EQ(from.kind, Kind::copied);
  EXPECT_EQ(from.from, 2U);
  EXPECT_EQ(kind(0xAA1F03E1, 1), Kind::computed);  // mov x1, xzr
  EXPECT_EQ(kind(0x8B020021, 1), Kind::computed);  // add x1, x1, x2
}

TEST(AArch64PointerSource, stays_where_an_instruction_changes_other_registers) {
  EXPECT_EQ(kind(0x8B020020, 1), Kind::kept);      // add x0, x1, x2
  EXPECT_EQ(kind(0xA9BF07E0, 1), Kind::kept);      // stp x0, x1, [sp, #-16]!
  EXPECT_EQ(kind(0xF9000401, 1), Kind::kept);      // str x1, [x0, #8]
  EXPECT_EQ(kind(0xF8408420, 1), Kind::computed);  // ldr x0, [x1], #8
  EXPECT_EQ(kind(0x885FFC20, 0), Kind::computed);  // ldaxr w0, [x1]
}

TEST(AArch64PointerSource, of_a_jump_is_its_register) {
  const Code jump({0xD61F0200});  // br x16
  EXPECT_EQ(jump_source(jump.all().front(), true).kind, Kind::copied);
  EXPECT_EQ(jump_source(jump.all().front(), true).from, 16U);
}

TEST(AArch64PointerSource, the_frame_is_gone_behind_an_epilogue) {
  EXPECT_TRUE(leaves_frame(Code({0xA8C27BFD}).all(), 1));  // ldp x29, x30, [sp], #32
  EXPECT_FALSE(leaves_frame(Code({0xAA0203E1}).all(), 1));
  // mov x1, x19; ldp x29, x30
  EXPECT_TRUE(leaves_frame(Code({0xAA1303E1, 0xA8C27BFD}).all(), 1));
  // add x1, x1, x2; ldp x29, x30
  EXPECT_FALSE(leaves_frame(Code({0x8B020021, 0xA8C27BFD}).all(), 1));
}

}  // namespace
}  // namespace sp::arch::aarch64
