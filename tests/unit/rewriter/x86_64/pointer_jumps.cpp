#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "analyzer/control_flow_graph.h"
#include "arch/native.h"
#include "rewriter/jump_targets.h"
#include "unit/arch/bytes.h"

namespace sp::rewriter {
namespace {

using core::Address;

constexpr Address kBase{0x401000};

class PointerJumps : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "decodes x86-64 code with the decoder of this CPU";
    }
  }

  /// Of a function at kBase that control enters at the given offsets.
  void decode(const char* hex, std::initializer_list<std::uint64_t> entries = {0}) {
    code_ = arch::bytes_of(hex);
    bounds_ = {kBase, kBase + code_.size()};
    std::vector<Address> leaders;
    for (const std::uint64_t entry : entries) {
      leaders.push_back(kBase + entry);
    }
    graph_ = analyzer::build_control_flow_graph(
        bounds_, leaders, [this](Address from, std::span<std::byte> into) -> std::size_t {
          if (!bounds_.contains(from)) {
            return 0;
          }
          const std::size_t size = std::min<std::size_t>(into.size(), bounds_.end - from);
          std::copy_n(code_.begin() + static_cast<std::ptrdiff_t>(from - kBase), size,
                      into.begin());
          return size;
        });
  }
  [[nodiscard]] bool are_pointers() const { return jumps_through_pointers(graph_, bounds_, code_); }

  /// The function's code ends in its only jump of that kind.
  bool leads_to_pointer(const char* hex, std::initializer_list<std::uint64_t> entries = {0}) {
    decode(hex, entries);
    EXPECT_EQ(graph_.unresolved.size(), 1U) << hex;
    return are_pointers();
  }

  std::vector<std::byte> code_;
  core::AddressRange bounds_;
  core::ControlFlowGraph graph_;
};

TEST_F(PointerJumps, take_it_from_memory) {
  EXPECT_TRUE(leads_to_pointer("ff67 08"));               // jmp *8(%rdi)
  EXPECT_TRUE(leads_to_pointer("488b07 488b4030 ffe0"));  // mov (%rdi),%rax; mov 48(%rax),%rax; jmp
  EXPECT_TRUE(leads_to_pointer("488b4708 4889c2 31c0 ffe2"));  // by another register
}

TEST_F(PointerJumps, do_not_lead_to_computed_addresses) {
  // movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax
  EXPECT_FALSE(leads_to_pointer("48630482 4801d0 ffe0"));
  EXPECT_FALSE(leads_to_pointer("488b07 4883c008 ffe0"));  // mov (%rdi),%rax; add $8,%rax; jmp
  EXPECT_FALSE(leads_to_pointer("488b07 88cc ffe0"));      // mov (%rdi),%rax; mov %cl,%ah; jmp
}

TEST_F(PointerJumps, take_it_from_the_caller) {
  EXPECT_TRUE(leads_to_pointer("ffe7"));         // jmp *%rdi
  EXPECT_TRUE(leads_to_pointer("4889f8 ffe0"));  // mov %rdi,%rax; jmp *%rax
}

TEST_F(PointerJumps, take_it_from_all_blocks_in_front) {
  // 0 test edi,edi; 2 je 9; 4 mov 8(rsi),rax; 8 nop; 9 jmp *rax, where rax is the caller's or
  // memory
  EXPECT_TRUE(leads_to_pointer("85ff 7405 488b4608 90 ffe0"));
  // The same with lea instead of mov.
  EXPECT_FALSE(leads_to_pointer("85ff 7405 488d4608 90 ffe0"));
  // 0 mov 8(rsi),rax; 4 test edi,edi; 6 je 9; 8 nop; 9 jmp *rax
  EXPECT_TRUE(leads_to_pointer("488b4608 85ff 7401 90 ffe0"));
  EXPECT_FALSE(leads_to_pointer("488d4608 85ff 7401 90 ffe0"));
}

TEST_F(PointerJumps, take_it_through_a_loop) {
  // 0 mov 8(rsi),rax; 4 dec edi; 6 jne 4; 8 jmp *rax
  EXPECT_TRUE(leads_to_pointer("488b4608 ffcf 75fc ffe0"));
  // 0 mov 8(rsi),rax; 4 add $8,rax; 8 dec edi; 10 jne 4; 12 jmp *rax
  EXPECT_FALSE(leads_to_pointer("488b4608 4883c008 ffcf 75f8 ffe0"));
}

TEST_F(PointerJumps, take_it_from_a_call_in_rax_only) {
  // 0 lea 8(rsi),rax; 4 call; 9 jmp *rax
  EXPECT_TRUE(leads_to_pointer("488d4608 e8f70f0000 ffe0"));
  // 0 lea 8(rsi),rbx; 4 call; 9 jmp *rbx
  EXPECT_FALSE(leads_to_pointer("488d5e08 e8f70f0000 ffe3"));
  EXPECT_TRUE(leads_to_pointer("488b5e08 e8f70f0000 ffe3"));  // mov instead of lea
  // 0 lea 8(rsi),rax; 4 call; 9 inc rax; 12 jmp *rax
  EXPECT_FALSE(leads_to_pointer("488d4608 e8f70f0000 48ffc0 ffe0"));
}

TEST_F(PointerJumps, may_lead_anywhere_where_control_comes_in_unseen) {
  // 0 ret; 1 jmp *rax: a landing pad
  EXPECT_FALSE(leads_to_pointer("c3 ffe0", {0, 1}));
  EXPECT_TRUE(leads_to_pointer("c3 ff6008", {0, 1}));
}

TEST_F(PointerJumps, may_lead_anywhere_where_a_table_leads_to_computed_values) {
  // 0 test edi,edi; 2 jne 11; 4 lea 8(rsi),rdx; 8 jmp *8(rdi); 11 jmp *rdx, rdx from the caller
  decode("85ff 7507 488d5608 ff6708 ffe2", {0, 11});
  ASSERT_EQ(graph_.blocks.size(), 3U);
  graph_.unresolved = {kBase + 11};
  EXPECT_TRUE(are_pointers());
  graph_.table_destinations = {kBase + 11};  // of the jump at 8, were it by a table
  EXPECT_FALSE(are_pointers());
}

TEST_F(PointerJumps, are_tail_calls_once_the_registers_of_the_caller_are_back) {
  // lea (%rdi,%rsi),%r12; call *%rdx; mov %r12,%rax; pop %r12; jmp *%rax
  EXPECT_TRUE(leads_to_pointer("4c8d2437 ffd2 4c89e0 415c ffe0"));
  // lea (%rdi,%rsi),%r8; test %edx,%edx; je .+1; nop; pop %rbx; jmp *%r8
  EXPECT_TRUE(leads_to_pointer("4c8d0437 85d2 7401 90 5b 41ffe0"));
  // the same, but pop %rcx; then add %rsi,%r8 behind pop %rbx
  EXPECT_FALSE(leads_to_pointer("4c8d0437 85d2 7401 90 59 41ffe0"));
  EXPECT_FALSE(leads_to_pointer("4c8d0437 85d2 7401 90 5b 4901f0 41ffe0"));
  // mov 8(%rsp),%rax; pop %rbx; jmp *%rax, and in the other order
  EXPECT_TRUE(leads_to_pointer("488b442408 5b ffe0"));
  EXPECT_FALSE(leads_to_pointer("5b 488b442408 ffe0"));
  // push %rbp; mov %rsp,%rbp; mov 8(%rdi),%rax; leave; jmp *%rax, and jmp *%rbp
  EXPECT_TRUE(leads_to_pointer("55 4889e5 488b4708 c9 ffe0"));
  EXPECT_FALSE(leads_to_pointer("55 4889e5 488b4708 c9 ffe5"));
}

TEST_F(PointerJumps, take_it_from_a_table_of_pointers_also_where_there_is_a_frame) {
  // push %rbp; mov %rsp,%rbp; jmp *0x400000(,%rax,8), and jmp *8(%rbp,%rax,8)
  EXPECT_TRUE(leads_to_pointer("55 4889e5 ff24c500004000"));
  EXPECT_FALSE(leads_to_pointer("55 4889e5 ff64c508"));
}

TEST_F(PointerJumps, are_all_of_the_function) {
  // 0 je 5; 2 jmp *8(rdi); 5 lea 8(rsi),rax; 9 jmp *rax
  decode("7403 ff6708 488d4608 ffe0");
  ASSERT_EQ(graph_.unresolved.size(), 2U);
  EXPECT_FALSE(are_pointers());
  decode("c3");
  EXPECT_TRUE(are_pointers());
}

}  // namespace
}  // namespace sp::rewriter
