#include <gtest/gtest.h>

#include <string_view>

#include "arch/x86_64/pointer_source.h"
#include "bytes.h"

namespace sp::arch::x86_64 {

/// For what tests print.
static void PrintTo(const WrittenFrom& written, std::ostream* out) {
  *out << static_cast<int>(written.source) << " of " << written.reg;
}
static bool operator==(const WrittenFrom& a, const WrittenFrom& b) {
  return a.source == b.source && a.reg == b.reg;
}

namespace {

constexpr unsigned kRax = 0;
constexpr unsigned kRcx = 1;
constexpr unsigned kRdx = 2;
constexpr unsigned kRbx = 3;
constexpr unsigned kRsp = 4;
constexpr unsigned kRdi = 7;
constexpr unsigned kR8 = 8;
constexpr unsigned kR15 = 15;

constexpr WrittenFrom kUnchanged{RegisterSource::unchanged};
constexpr WrittenFrom kMemory{RegisterSource::memory};
constexpr WrittenFrom kComputed{RegisterSource::computed};

WrittenFrom written(const char* hex, unsigned reg) { return written_from(bytes_of(hex), reg); }

void expect_jump(const char* hex, bool is_memory, unsigned reg) {
  const auto source = jump_source(bytes_of(hex));
  ASSERT_TRUE(source) << hex;
  EXPECT_EQ(source->is_memory, is_memory) << hex;
  EXPECT_EQ(source->reg, reg) << hex;
}

TEST(X86JumpSource, is_a_register_or_memory) {
  expect_jump("ff e0", false, kRax);
  expect_jump("41 ff e7", false, kR15);
  expect_jump("3e ff e2", false, kRdx);                // notrack
  expect_jump("ff 67 08", true, 0);                    // jmp *8(%rdi)
  expect_jump("ff 24 c5 00 10 40 00", true, 0);        // jmp *0x401000(,%rax,8)
  expect_jump("41 ff 25 10 00 00 00", true, 0);        // jmp *0x10(%rip)
  expect_jump("f2 ff 25 10 00 00 00 90 90", true, 0);  // bnd; other code behind it
}

TEST(X86JumpSource, is_of_near_indirect_jumps_only) {
  EXPECT_FALSE(jump_source(bytes_of("ff d0")));           // call *%rax
  EXPECT_FALSE(jump_source(bytes_of("ff 2f")));           // ljmp *(%rdi)
  EXPECT_FALSE(jump_source(bytes_of("66 ff e0")));        // 16 bits on some CPUs
  EXPECT_FALSE(jump_source(bytes_of("e9 00 00 00 00")));  // jmp
  EXPECT_FALSE(jump_source(bytes_of("c3")));
  EXPECT_FALSE(jump_source(bytes_of("ff")));
}

TEST(X86WrittenFrom, tells_a_load_of_64_bits) {
  EXPECT_EQ(written("48 8b 40 30", kRax), kMemory);          // mov 0x30(%rax),%rax
  EXPECT_EQ(written("4c 8b 05 10 00 00 00", kR8), kMemory);  // mov 0x10(%rip),%r8
  EXPECT_EQ(written("64 48 8b 04 25 10 00 00 00", kRax), kMemory);
  EXPECT_EQ(written("5b", kRbx), kMemory);             // pop %rbx
  EXPECT_EQ(written("41 5f", kR15), kMemory);          // pop %r15
  EXPECT_EQ(written("8b 40 30", kRax), kComputed);     // 32 bits
  EXPECT_EQ(written("66 8b 40 30", kRax), kComputed);  // 16 bits
  EXPECT_EQ(written("48 63 04 82", kRax), kComputed);  // movslq (%rdx,%rax,4),%rax
}

TEST(X86WrittenFrom, tells_a_move_from_a_register) {
  const WrittenFrom rdi{RegisterSource::other_register, kRdi};
  EXPECT_EQ(written("48 89 f8", kRax), rdi);  // mov %rdi,%rax
  EXPECT_EQ(written("48 8b c7", kRax), rdi);  // the same
  EXPECT_EQ(written("49 89 f8", kR8), rdi);   // mov %rdi,%r8
  EXPECT_EQ(written("49 8b c7", kRax), (WrittenFrom{RegisterSource::other_register, kR15}));
  EXPECT_EQ(written("48 89 f8", kRdi), kUnchanged);
  EXPECT_EQ(written("48 89 f8", kR8), kUnchanged);
  EXPECT_EQ(written("89 f8", kRax), kComputed);      // mov %edi,%eax
  EXPECT_EQ(written("48 89 07", kRax), kUnchanged);  // mov %rax,(%rdi)
  EXPECT_EQ(written("48 89 07", kRdi), kUnchanged);
}

TEST(X86WrittenFrom, takes_results_for_computed) {
  EXPECT_EQ(written("48 01 d0", kRax), kComputed);              // add %rdx,%rax
  EXPECT_EQ(written("48 03 02", kRax), kComputed);              // add (%rdx),%rax
  EXPECT_EQ(written("31 c0", kRax), kComputed);                 // xor %eax,%eax
  EXPECT_EQ(written("48 8d 05 10 00 00 00", kRax), kComputed);  // lea 0x10(%rip),%rax
  EXPECT_EQ(written("b8 00 10 40 00", kRax), kComputed);        // mov $0x401000,%eax
  EXPECT_EQ(written("48 c7 c0 00 10 40 00", kRax), kComputed);  // mov $0x401000,%rax
  EXPECT_EQ(written("48 0f 44 c2", kRax), kComputed);           // cmove %rdx,%rax
  EXPECT_EQ(written("0f b6 c0", kRax), kComputed);              // movzbl %al,%eax
  EXPECT_EQ(written("0f 94 c0", kRax), kComputed);              // sete %al
  EXPECT_EQ(written("48 87 d8", kRax), kComputed);              // xchg %rbx,%rax
  EXPECT_EQ(written("48 87 d8", kRbx), kComputed);
  EXPECT_EQ(written("48 f7 e1", kRdx), kComputed);        // mul %rcx
  EXPECT_EQ(written("48 ff c0", kRax), kComputed);        // inc %rax
  EXPECT_EQ(written("48 c1 e0 03", kRax), kComputed);     // shl $3,%rax
  EXPECT_EQ(written("48 0f c8", kRax), kComputed);        // bswap %rax
  EXPECT_EQ(written("66 48 0f 7e c0", kRax), kComputed);  // movq %xmm0,%rax
  EXPECT_EQ(written("c4 e1 f9 7e c0", kRax), kComputed);  // vmovq %xmm0,%rax
  EXPECT_EQ(written("48 ad", kRax), kComputed);           // lods (%rsi),%rax
  EXPECT_EQ(written("c9", kRsp), kComputed);              // leave
  EXPECT_EQ(written("06", kRax), kComputed);              // no instruction
}

TEST(X86WrittenFrom, sees_a_write_of_some_bytes) {
  EXPECT_EQ(written("88 c8", kRax), kComputed);  // mov %cl,%al
  EXPECT_EQ(written("88 cc", kRax), kComputed);  // mov %cl,%ah
  EXPECT_EQ(written("88 cc", kRsp), kUnchanged);
  EXPECT_EQ(written("40 88 cc", kRsp), kComputed);  // mov %cl,%spl
  EXPECT_EQ(written("8a 27", kRax), kComputed);     // mov (%rdi),%ah
  EXPECT_EQ(written("8a 3f", kRbx), kComputed);     // mov (%rdi),%bh
  EXPECT_EQ(written("8a 3f", kRdi), kUnchanged);
  EXPECT_EQ(written("80 e4 f8", kRax), kComputed);   // and $0xf8,%ah
  EXPECT_EQ(written("80 fc 08", kRax), kUnchanged);  // cmp $8,%ah
  EXPECT_EQ(written("b4 01", kRax), kComputed);      // mov $1,%ah
  EXPECT_EQ(written("66 89 d0", kRax), kComputed);   // mov %dx,%ax
}

TEST(X86WrittenFrom, sees_that_operands_which_are_read_stay) {
  EXPECT_EQ(written("48 01 d0", kRdx), kUnchanged);     // add %rdx,%rax
  EXPECT_EQ(written("48 01 10", kRax), kUnchanged);     // add %rdx,(%rax)
  EXPECT_EQ(written("48 39 d0", kRax), kUnchanged);     // cmp %rdx,%rax
  EXPECT_EQ(written("48 83 f8 08", kRax), kUnchanged);  // cmp $8,%rax
  EXPECT_EQ(written("48 3d 00 10 00 00", kRax), kUnchanged);
  EXPECT_EQ(written("48 85 c0", kRax), kUnchanged);  // test %rax,%rax
  EXPECT_EQ(written("f6 c0 01", kRax), kUnchanged);  // test $1,%al
  EXPECT_EQ(written("50", kRax), kUnchanged);        // push %rax
  EXPECT_EQ(written("48 8b 18", kRax), kUnchanged);  // mov (%rax),%rbx
  EXPECT_EQ(written("48 d3 e0", kRcx), kUnchanged);  // shl %cl,%rax
  EXPECT_EQ(written("0f b6 08", kRax), kUnchanged);  // movzbl (%rax),%ecx
  EXPECT_EQ(written("0f 85 00 01 00 00", kRax), kUnchanged);
  EXPECT_EQ(written("5b", kRax), kUnchanged);  // pop %rbx
  EXPECT_EQ(written("90", kRax), kUnchanged);
}

TEST(X86Padding, is_no_operations_and_breakpoints) {
  EXPECT_TRUE(is_padding({}));
  EXPECT_TRUE(is_padding(bytes_of("90 cc cc")));
  EXPECT_TRUE(is_padding(bytes_of("66 90 0f 1f 44 00 00 66 66 2e 0f 1f 84 00 00 00 00 00")));
  EXPECT_FALSE(is_padding(bytes_of("90 c3")));
  EXPECT_FALSE(is_padding(bytes_of("f3 90")));     // pause
  EXPECT_FALSE(is_padding(bytes_of("41 90")));     // xchg %eax,%r8d
  EXPECT_FALSE(is_padding(bytes_of("0f 1f 44")));  // half of one
}

}  // namespace
}  // namespace sp::arch::x86_64
