#include "rewriter/jump_targets.h"

#include <gtest/gtest.h>

#include "arch/native.h"
#include "unit/rewriter/hand_made.h"

namespace sp::rewriter {
namespace {

bool is_whole(const char* hex) {
  HandMade function(hex);
  EXPECT_FALSE(function.graph().unresolved.empty()) << hex;
  return jumps_through_pointers(function.graph(), function->bounds, function->code);
}

TEST(JumpTargets, are_whole_if_loaded_passed_or_returned) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "graphs of other CPUs' code";
  }
  EXPECT_TRUE(is_whole("ff a0 80 00 00 00"));           // jmp *0x80(%rax)
  EXPECT_TRUE(is_whole("ff 25 00 10 00 00"));           // jmp *0x1000(%rip)
  EXPECT_TRUE(is_whole("ff e6"));                       // jmp *%rsi, an argument
  EXPECT_TRUE(is_whole("48 8b 45 20 5d 41 5c ff e0"));  // mov 0x20(%rbp),%rax; pop..; jmp *%rax
  EXPECT_TRUE(is_whole("e8 00 10 00 00 ff e0"));        // call; jmp *%rax
  EXPECT_TRUE(is_whole("48 89 cc 59 ff e1"));           // mov %rcx,%rsp; pop %rcx; jmp *%rcx
  EXPECT_TRUE(is_whole("48 8b 47 08 85 f6 74 02 31 c9 ff e0"));  // over a branch
}

TEST(JumpTargets, are_not_whole_if_computed_or_kept_on_the_stack) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "graphs of other CPUs' code";
  }
  EXPECT_FALSE(is_whole("48 63 04 b2 48 01 d0 ff e0"));     // movslq; add %rdx,%rax; jmp *%rax
  EXPECT_FALSE(is_whole("48 8d 44 05 00 ff e0"));           // lea (%rbp,%rax),%rax
  EXPECT_FALSE(is_whole("48 8b 44 24 08 ff e0"));           // mov 8(%rsp),%rax
  EXPECT_FALSE(is_whole("ff 64 24 08"));                    // jmp *8(%rsp)
  EXPECT_FALSE(is_whole("55 48 89 e5 48 8b 45 f8 ff e0"));  // mov -8(%rbp),%rax, a frame pointer
  EXPECT_FALSE(is_whole("58 ff e0"));                       // pop %rax
  EXPECT_FALSE(is_whole("48 89 ec 59 ff e1"));              // mov %rbp,%rsp; pop %rcx; jmp *%rcx
}

}  // namespace
}  // namespace sp::rewriter
