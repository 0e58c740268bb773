#include "arch/aarch64/frames.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "arch/x86_64/frames.h"

namespace sp::arch {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> out;
  for (const unsigned value : values) {
    out.push_back(static_cast<std::byte>(value));
  }
  return out;
}

using X86 = x86_64::Frames;
using Arm = aarch64::Frames;

TEST(X86Frames, knows_every_form_of_a_call) {
  EXPECT_TRUE(X86::ends_in_call(bytes({0x90, 0xe8, 1, 2, 3, 4})));        // call rel32
  EXPECT_TRUE(X86::ends_in_call(bytes({0xff, 0xd0})));                    // call *%rax
  EXPECT_TRUE(X86::ends_in_call(bytes({0x41, 0xff, 0xd4})));              // call *%r12
  EXPECT_TRUE(X86::ends_in_call(bytes({0xff, 0x50, 0x18})));              // call *24(%rax)
  EXPECT_TRUE(X86::ends_in_call(bytes({0xff, 0x15, 1, 2, 3, 4})));        // call *x(%rip)
  EXPECT_TRUE(X86::ends_in_call(bytes({0xff, 0x14, 0xc5, 1, 2, 3, 4})));  // call *x(,%rax,8)
  EXPECT_TRUE(X86::ends_in_call(bytes({0xff, 0x54, 0x24, 0x08})));        // call *8(%rsp)
  EXPECT_TRUE(X86::ends_in_call(bytes({0xff, 0x94, 0x24, 1, 2, 3, 4})));  // call *x(%rsp)
}

TEST(X86Frames, takes_nothing_else_for_a_call) {
  EXPECT_FALSE(X86::ends_in_call({}));
  EXPECT_FALSE(X86::ends_in_call(bytes({0xe8, 1, 2, 3})));
  EXPECT_FALSE(X86::ends_in_call(bytes({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90})));
  EXPECT_FALSE(X86::ends_in_call(bytes({0xff, 0xe0})));              // jmp *%rax
  EXPECT_FALSE(X86::ends_in_call(bytes({0xff, 0x35, 1, 2, 3, 4})));  // push x(%rip)
}

TEST(X86Frames, runs_an_epilogue_to_its_return) {
  // add $0x18,%rsp; pop %rbx; pop %rbp; pop %r12; ret
  const auto exit =
      X86::find_epilogue({}, bytes({0x48, 0x83, 0xc4, 0x18, 0x5b, 0x5d, 0x41, 0x5c, 0xc3}));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->base, X86::kStackPointer);
  EXPECT_EQ(exit->return_slot, 0x18 + 24);
  ASSERT_EQ(exit->restored_count, 3U);
  EXPECT_EQ(exit->restored[0].dwarf_register, 3U);  // rbx
  EXPECT_EQ(exit->restored[0].slot, 0x18);
  EXPECT_EQ(exit->restored[1].dwarf_register, 6U);
  EXPECT_EQ(exit->restored[2].dwarf_register, 12U);
  EXPECT_EQ(exit->restored[2].slot, 0x28);
}

TEST(X86Frames, counts_from_the_frame_pointer_after_leave) {
  const auto exit = X86::find_epilogue({}, bytes({0xc9, 0xc2, 0x10, 0x00}));  // leave; ret $16
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->base, X86::kFramePointer);
  EXPECT_EQ(exit->return_slot, 8);
  EXPECT_EQ(exit->released, 16);
}

TEST(X86Frames, sees_a_tail_call_only_behind_a_pop) {
  EXPECT_FALSE(X86::find_epilogue({}, bytes({0xe9, 0, 1, 0, 0})));
  const auto exit =
      X86::find_epilogue({}, bytes({0x5b, 0xe9, 0, 1, 0, 0}));  // pop %rbx; jmp .+0x100
  ASSERT_TRUE(exit);
  EXPECT_TRUE(exit->by_jump);
  EXPECT_EQ(exit->jump_target, 6 + 0x100);
  EXPECT_EQ(exit->return_slot, 8);
}

TEST(X86Frames, finds_no_exit_where_something_else_comes_first) {
  EXPECT_FALSE(X86::find_epilogue({}, {}));
  EXPECT_FALSE(X86::find_epilogue({}, bytes({0x5b})));                    // cut off
  EXPECT_FALSE(X86::find_epilogue({}, bytes({0x5b, 0x89, 0xc0, 0xc3})));  // mov %eax,%eax
  EXPECT_FALSE(X86::find_epilogue({}, bytes({0x5c, 0xc3})));              // pop %rsp
  EXPECT_FALSE(X86::find_epilogue({}, bytes({0x5d, 0xc9, 0xc3})));        // leave by a popped rbp
}

TEST(X86Frames, finds_return_addresses_under_stubs_and_prologues) {
  const auto none = bytes({});
  EXPECT_EQ(X86::frameless_return_slot(none, bytes({0xff, 0x25, 0, 0, 0, 0})), 0);
  EXPECT_EQ(X86::frameless_return_slot(none, bytes({0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25})), 0);
  EXPECT_EQ(X86::frameless_return_slot(none, bytes({0x68, 1, 0, 0, 0, 0xe9})), 0);
  EXPECT_EQ(X86::frameless_return_slot(bytes({0x68, 1, 0, 0, 0}), bytes({0xe9})), 8);
  EXPECT_EQ(X86::frameless_return_slot(none, bytes({0x55, 0x48, 0x89, 0xe5})), 0);
  EXPECT_EQ(X86::frameless_return_slot(bytes({0x55}), bytes({0x48, 0x89, 0xe5})), 8);
  EXPECT_FALSE(X86::frameless_return_slot(none, bytes({0x48, 0x89, 0xe5})));
}

TEST(X86Frames, knows_what_returns_from_a_signal) {
  const auto mov = bytes({0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0});
  const auto both = bytes({0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05});
  EXPECT_TRUE(X86::is_signal_return({}, both));
  EXPECT_TRUE(X86::is_signal_return(mov, bytes({0x0f, 0x05})));
  EXPECT_FALSE(X86::is_signal_return({}, bytes({0x0f, 0x05})));
  EXPECT_EQ(X86::signal_slot(X86::kPc), 40 + 8 * 16);
  EXPECT_EQ(X86::signal_slot(X86::kStackPointer), 40 + 8 * 15);
  EXPECT_EQ(X86::signal_slot(8), 40);
}

/// A stack, in words, with a signal's frame from the word `sp` on: `marker` is so many words behind
/// the saved pc.
template <typename Frames>
std::vector<std::uint64_t> stack_with_frame(std::size_t sp, std::size_t behind_pc,
                                            std::uint64_t marker) {
  std::vector<std::uint64_t> words(200, 7);
  const auto slot = [sp](unsigned dwarf) {
    return sp + static_cast<std::size_t>(Frames::signal_slot(dwarf)) / 8;
  };
  words[slot(Frames::kStackPointer)] = 0x7000;
  words[slot(Frames::kPc)] = 0x401234;
  words[slot(Frames::kPc) + behind_pc] = marker;
  return words;
}

template <typename Frames>
void expect_one_frame(const std::vector<std::uint64_t>& words) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const auto frame = Frames::interrupted(words, i)) {
      ++found;
      EXPECT_EQ(frame->pc, core::Address{0x401234});
      EXPECT_EQ(frame->sp, core::Address{0x7000});
    }
  }
  EXPECT_EQ(found, 1U);
}

TEST(X86Frames, find_where_a_signal_came_in_the_words_of_a_stack) {
  expect_one_frame<X86>(stack_with_frame<X86>(5, 2, 0x002B'0000'0000'0033));
  expect_one_frame<X86>(stack_with_frame<X86>(5, 2, 0x33));  // by an old kernel
  const std::vector<std::uint64_t> cut{0x33, 0x33, 0x33};
  EXPECT_FALSE(X86::interrupted(cut, 0) || X86::interrupted(cut, 2));
}

TEST(ArmFrames, find_where_a_signal_came_in_the_words_of_a_stack) {
  expect_one_frame<Arm>(stack_with_frame<Arm>(6, 3, 0x0210'4650'8001));
  const std::vector<std::uint64_t> cut{0x0210'4650'8001};
  EXPECT_FALSE(Arm::interrupted(cut, 0));
}

TEST(ArmFrames, knows_every_form_of_a_call) {
  EXPECT_TRUE(Arm::ends_in_call(bytes({0x10, 0x00, 0x00, 0x94})));   // bl
  EXPECT_TRUE(Arm::ends_in_call(bytes({0x60, 0x02, 0x3f, 0xd6})));   // blr x19
  EXPECT_TRUE(Arm::ends_in_call(bytes({0x11, 0x09, 0x3f, 0xd7})));   // blraa x8, x17
  EXPECT_TRUE(Arm::ends_in_call(bytes({0x1f, 0x09, 0x3f, 0xd6})));   // blraaz x8
  EXPECT_FALSE(Arm::ends_in_call(bytes({0x60, 0x02, 0x1f, 0xd6})));  // br x19
  EXPECT_FALSE(Arm::ends_in_call(bytes({0x10, 0x00, 0x00, 0x14})));  // b
  EXPECT_FALSE(Arm::ends_in_call({}));
}

TEST(ArmFrames, knows_what_returns_from_a_signal) {
  const auto both = bytes({0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4});
  EXPECT_TRUE(Arm::is_signal_return({}, both));
  EXPECT_FALSE(Arm::is_signal_return({}, bytes({0x01, 0x00, 0x00, 0xd4})));
  EXPECT_EQ(Arm::signal_slot(0), 312);
}

TEST(ArmFrames, finds_return_addresses_that_are_in_the_link_register_still) {
  // adrp x16, 0x20000; ldr x17, [x16, #40]; add x16, x16, #0x28; br x17
  const auto stub = bytes({0x10, 0x01, 0x00, 0x90, 0x11, 0x16, 0x40, 0xf9,  //
                           0x10, 0xa2, 0x00, 0x91, 0x20, 0x02, 0x1f, 0xd6});
  const auto code = std::span(stub);
  const auto push = bytes({0xf0, 0x7b, 0xbf, 0xa9});   // stp x16, x30, [sp, #-16]!
  const auto frame = bytes({0xfd, 0x7b, 0xbe, 0xa9});  // stp x29, x30, [sp, #-32]!
  const auto set = bytes({0xfd, 0x03, 0x00, 0x91});    // mov x29, sp
  EXPECT_EQ(Arm::linked_return({}, stub), 0);
  EXPECT_EQ(Arm::linked_return(code.first(8), code.subspan(8)), 0);
  EXPECT_EQ(Arm::linked_return(push, stub), 16);
  EXPECT_EQ(Arm::linked_return({}, frame), 0);
  EXPECT_EQ(Arm::linked_return(frame, set), 32);
  EXPECT_EQ(Arm::linked_return({}, bytes({0xc0, 0x03, 0x5f, 0xd6})), 0);  // ret
  EXPECT_FALSE(Arm::linked_return({}, set));
  EXPECT_FALSE(Arm::linked_return({}, bytes({})));
}

std::vector<std::byte> words(std::initializer_list<std::uint32_t> values) {
  std::vector<std::byte> out(4 * values.size());
  std::memcpy(out.data(), std::data(values), out.size());
  return out;
}

constexpr std::uint32_t kLdpX29X30Post48 = 0xa8c37bfd;  // ldp x29, x30, [sp], #48
constexpr std::uint32_t kLdpX29X30At64 = 0xa9447bfd;    // ldp x29, x30, [sp, #64]
constexpr std::uint32_t kLdrX19At48 = 0xf9401bf3;       // ldr x19, [sp, #48]
constexpr std::uint32_t kAddSp112 = 0x9101c3ff;         // add sp, sp, #112
constexpr std::uint32_t kStrX8ToX19 = 0xf9000268;       // str x8, [x19]
constexpr std::uint32_t kRet = 0xd65f03c0;
constexpr std::uint32_t kNop = 0xd503201f;

TEST(ArmFrames, epilogues_are_followed_to_their_return) {
  const auto exit =
      Arm::find_epilogue({}, words({kLdpX29X30At64, kStrX8ToX19, kLdrX19At48, kAddSp112, kRet}));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->base, Arm::kStackPointer);
  EXPECT_EQ(exit->return_slot, 112);
  ASSERT_EQ(exit->restored_count, 3U);
  EXPECT_EQ(exit->restored[0].dwarf_register, 29U);
  EXPECT_EQ(exit->restored[0].slot, 64);
  EXPECT_EQ(exit->restored[1].slot, 72);
  EXPECT_EQ(exit->restored[2].dwarf_register, 19U);
  EXPECT_EQ(exit->restored[2].slot, 48);

  // mov sp, x29; ldp x29, x30, [sp], #48; retaa
  const auto rebased = Arm::find_epilogue({}, words({0x910003bf, kLdpX29X30Post48, 0xd65f0bff}));
  ASSERT_TRUE(rebased);
  EXPECT_EQ(rebased->base, Arm::kFramePointer);
  EXPECT_EQ(rebased->return_slot, 48);
  EXPECT_EQ(rebased->restored[1].slot, 8);

  const auto empty = Arm::find_epilogue({}, words({kRet}));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->return_slot, 0);
}

TEST(ArmFrames, jumps_leave_only_behind_a_frame_that_was_given_up) {
  constexpr std::uint32_t kJump16 = 0x14000004;
  constexpr std::uint32_t kBrX16 = 0xd61f0200;
  EXPECT_FALSE(Arm::find_epilogue({}, words({kJump16})));
  EXPECT_FALSE(Arm::find_epilogue(words({kNop}), words({kBrX16})));
  const auto after = Arm::find_epilogue(words({kLdpX29X30Post48}), words({kJump16}));
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->by_jump);
  EXPECT_EQ(after->jump_target, 16);
  const auto indirect = Arm::find_epilogue({}, words({kLdpX29X30Post48, kBrX16}));
  ASSERT_TRUE(indirect);
  EXPECT_TRUE(indirect->by_jump);
  EXPECT_FALSE(indirect->jump_target);
}

TEST(ArmFrames, what_is_no_epilogue_is_not_taken_for_one) {
  EXPECT_FALSE(Arm::find_epilogue({}, {}));
  EXPECT_FALSE(Arm::find_epilogue({}, words({kLdpX29X30Post48})));  // cut off
  EXPECT_FALSE(Arm::find_epilogue({}, words({0xaa0003f3, kRet})));  // mov x19, x0
  EXPECT_FALSE(Arm::find_epilogue({}, words({0xf9000ff3, kRet})));  // str x19, [sp, #24]
  EXPECT_FALSE(Arm::find_epilogue({}, words({0x94000001, kRet})));  // bl
  EXPECT_FALSE(Arm::find_epilogue({}, words({kLdpX29X30At64, 0x910003bf, kRet})));  // mov sp, x29
}

TEST(ArmFrames, prologues_are_read_as_far_as_they_were_done) {
  constexpr std::uint32_t kSubSp112 = 0xd101c3ff;       // sub sp, sp, #112
  constexpr std::uint32_t kStpX29X30At64 = 0xa9047bfd;  // stp x29, x30, [sp, #64]
  constexpr std::uint32_t kSetFrame = 0x910103fd;       // add x29, sp, #64
  EXPECT_EQ(Arm::read_prologue({}).lowered, 0);
  EXPECT_EQ(Arm::read_prologue(words({kSubSp112})).lowered, 112);
  EXPECT_FALSE(Arm::read_prologue(words({kSubSp112, kStpX29X30At64})).frame_pointer_slot);
  const auto whole = Arm::read_prologue(words({kSubSp112, kStpX29X30At64, kSetFrame}));
  EXPECT_EQ(whole.lowered, 112);
  EXPECT_EQ(whole.frame_pointer_slot, 64);
  // stp x29, x30, [sp, #-32]!; mov x29, sp
  const auto pushed = Arm::read_prologue(words({0xa9be7bfd, 0x910003fd}));
  EXPECT_EQ(pushed.lowered, 32);
  EXPECT_EQ(pushed.frame_pointer_slot, 0);
  // Instructions before a branch do not belong to this prologue: cbz x0, .+8.
  EXPECT_EQ(Arm::read_prologue(words({kSubSp112, 0xb4000040, kNop})).lowered, 0);
}

TEST(ArmFrames, calls_and_idle_instructions_are_known) {
  EXPECT_EQ(Arm::called(words({0x94000004})), 12);  // bl .+16
  EXPECT_EQ(Arm::called(words({0x97ffffff})), -8);  // bl .-4
  EXPECT_FALSE(Arm::called(words({0xd63f0000})));   // blr x0
  EXPECT_FALSE(Arm::called({}));
  EXPECT_EQ(Arm::idle_length(words({kNop})), 4U);
  EXPECT_EQ(Arm::idle_length(words({kRet})), 0U);
}

}  // namespace
}  // namespace sp::arch
