#include "rewriter/live_state.h"

#include <gtest/gtest.h>

#include "arch/x86_64/decoder.h"
#include "arch/x86_64/flags.h"
#include "rewriter/code_outside.h"
#include "unit/arch/bytes.h"

namespace sp::rewriter {
namespace {

using arch::bytes_of;
using arch::x86_64::kArithmeticFlags;
using arch::x86_64::kCarry;
using arch::x86_64::kZero;
using core::Address;

constexpr std::uint64_t kStart = 0x1000;
constexpr unsigned kRax = 1U << 0U;
constexpr unsigned kRcx = 1U << 1U;
constexpr unsigned kRdx = 1U << 2U;
constexpr unsigned kRsp = 1U << 4U;
constexpr unsigned kR11 = 1U << 11U;
constexpr unsigned kAll = 0xFFFF;

/// A function at kStart whose blocks are cut at the given offsets.
class Function {
 public:
  explicit Function(const char* hex, std::initializer_list<std::uint64_t> leaders = {0})
      : code_(bytes_of(hex)) {
    const std::vector<std::uint64_t> starts(leaders);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::uint64_t end = i + 1 < starts.size() ? starts[i + 1] : code_.size();
      add_block(starts[i], end);
    }
  }

  core::ControlFlowGraph graph;

  [[nodiscard]] LiveState live(std::span<const FlagsReadAt> outside = {},
                               bool returns_flags = false) const {
    return LiveState::of(graph, {Address{kStart}, Address{kStart + code_.size()}}, code_, outside,
                         returns_flags);
  }

 private:
  void add_block(std::uint64_t at, std::uint64_t end) {
    core::BasicBlock block;
    block.start = Address{kStart + at};
    while (at < end) {
      block.last = *arch::x86_64::decode(std::span(code_).subspan(at), Address{kStart + at});
      block.lengths.push_back(block.last.length);
      at += block.last.length;
      if (core::ends_block(block.last.flow)) {
        break;
      }
    }
    block.falls_through = !core::ends_block(block.last.flow);
    graph.blocks.push_back(block);
  }

  std::vector<std::byte> code_;
};

std::uint64_t flags(const LiveState& live, std::uint64_t offset) {
  return live.before(Address{kStart + offset}).flags;
}
unsigned registers(const LiveState& live, std::uint64_t offset) {
  return live.before(Address{kStart + offset}).registers;
}

TEST(LiveState, flags_are_dead_from_a_return_up_to_the_last_read) {
  const Function function(
      "48 85 ff "  // 0: test %rdi,%rdi
      "89 f8 "     // 3: mov %edi,%eax
      "0f 94 c0 "  // 5: sete %al
      "c3");       // 8: ret
  const LiveState live = function.live();
  EXPECT_EQ(flags(live, 0), 0U);
  EXPECT_EQ(flags(live, 3), kZero);
  EXPECT_EQ(flags(live, 5), kZero);
  EXPECT_EQ(flags(live, 8), 0U);
  EXPECT_TRUE(live.flags_across_calls().empty());
}

TEST(LiveState, registers_are_dead_where_the_function_overwrites_them_first) {
  const Function function(
      "89 c1 "           // 0: mov %eax,%ecx
      "b8 01 00 00 00 "  // 2: mov $1,%eax
      "88 c2 "           // 7: mov %al,%dl
      "c3");             // 9
  const LiveState live = function.live();
  EXPECT_EQ(registers(live, 0), kAll & ~kRcx);
  EXPECT_EQ(registers(live, 2), kAll & ~kRax);
  EXPECT_EQ(registers(live, 7), kAll);  // rdx keeps its upper bytes
  EXPECT_EQ(registers(live, 9), kAll);
}

TEST(LiveState, rsp_is_always_live) {
  const Function function(
      "48 89 ec "  // 0: mov %rbp,%rsp
      "5d c3");
  EXPECT_EQ(registers(function.live(), 0) & kRsp, kRsp);
}

TEST(LiveState, joins_both_ways_of_a_branch) {
  const Function function(
      "48 39 f7 "        // 0: cmp %rsi,%rdi
      "74 06 "           // 3: je 0xb
      "b8 00 00 00 00 "  // 5: mov $0,%eax
      "c3 "              // a: ret
      "0f 92 c1 "        // b: setb %cl
      "31 c0 "           // e: xor %eax,%eax
      "c3",              // 10
      {0, 5, 0xB});
  const LiveState live = function.live();
  EXPECT_EQ(flags(live, 3), kZero | kCarry);
  EXPECT_EQ(flags(live, 5), 0U);
  EXPECT_EQ(flags(live, 0xB), kCarry);
  EXPECT_EQ(registers(live, 3) & kRax, 0U);
}

TEST(LiveState, goes_around_loops) {
  const Function function(
      "f8 "        // 0: clc
      "11 c8 "     // 1: adc %ecx,%eax
      "8d 52 ff "  // 3: lea -1(%rdx),%edx
      "67 e3 02 "  // 6: jecxz 0xb
      "eb f6 "     // 9: jmp 1
      "c3",        // b
      {0, 1, 9, 0xB});
  const LiveState live = function.live();
  EXPECT_EQ(flags(live, 0), 0U);
  EXPECT_EQ(flags(live, 3), kCarry);
  EXPECT_EQ(flags(live, 9), kCarry);
  EXPECT_EQ(flags(live, 0xB), 0U);
}

TEST(LiveState, shifts_by_cl_and_repeated_compares_let_flags_through) {
  const Function function(
      "d3 e0 "     // 0: shl %cl,%eax
      "f3 a6 "     // 2: repe cmpsb
      "0f 94 c0 "  // 4: sete %al
      "c3");
  EXPECT_EQ(flags(function.live(), 0), kZero);
}

TEST(LiveState, calls_need_no_flags_and_all_registers) {
  const Function function(
      "e8 00 01 00 00 "     // 0: call
      "41 bb 00 00 00 00 "  // 5: mov $0,%r11d
      "c3",
      {0, 5});
  const LiveState live = function.live();
  EXPECT_EQ(flags(live, 0), 0U);
  EXPECT_EQ(registers(live, 0), kAll);
  EXPECT_EQ(registers(live, 5), kAll & ~kR11);
}

TEST(LiveState, flags_that_a_function_returns_are_live_from_where_they_are_set) {
  const Function function(
      "48 89 c8 "  // 0: mov %rcx,%rax
      "48 39 f7 "  // 3: cmp %rsi,%rdi
      "48 89 c2 "  // 6: mov %rax,%rdx
      "c3");       // 9: ret
  EXPECT_EQ(flags(function.live(), 6), 0U);
  const LiveState returned = function.live({}, true);
  EXPECT_EQ(flags(returned, 9), kArithmeticFlags);
  EXPECT_EQ(flags(returned, 6), kArithmeticFlags);
  EXPECT_EQ(flags(returned, 3), 0U);
  EXPECT_TRUE(returned.flags_across_calls().empty());
}

TEST(LiveState, reports_flags_that_the_caller_or_an_unknown_callee_sets) {
  const Function reads_callees(
      "ff d0 "     // 0: call *%rax
      "89 c1 "     // 2: mov %eax,%ecx
      "0f 92 c0 "  // 4: setb %al
      "c3",
      {0, 2});
  EXPECT_EQ(reads_callees.live().flags_across_calls(), std::vector<Address>{Address{kStart + 2}});
  const Function known("e8 00 01 00 00 0f 92 c0 c3", {0, 5});  // call; setb %al
  EXPECT_TRUE(known.live().flags_across_calls().empty());
  EXPECT_EQ(flags(known.live(), 5), arch::x86_64::kCarry);
  const Function reads_callers("19 c0 c3");  // sbb %eax,%eax
  EXPECT_EQ(reads_callers.live().flags_across_calls(), std::vector<Address>{Address{kStart}});
}

TEST(LiveState, a_trap_behind_a_call_that_does_not_return_reads_no_callees_flags) {
  const Function function("e8 00 01 00 00 0f 0b", {0, 5});  // call; ud2
  EXPECT_EQ(flags(function.live(), 5), kArithmeticFlags);
  EXPECT_TRUE(function.live().flags_across_calls().empty());
}

TEST(LiveState, an_unresolved_jump_needs_everything_and_reads_nothing_known) {
  Function function(
      "48 8b 07 "  // 0: mov (%rdi),%rax
      "ff e0");    // 3: jmp *%rax
  function.graph.unresolved = {Address{kStart + 3}};
  const LiveState live = function.live();
  EXPECT_EQ(flags(live, 0), kArithmeticFlags);
  EXPECT_EQ(registers(live, 3), kAll);
  EXPECT_TRUE(live.flags_across_calls().empty());
}

TEST(LiveState, a_resolved_jump_needs_what_any_block_reads) {
  const Function function(
      "48 39 f7 "  // 0: cmp %rsi,%rdi
      "ff e0 "     // 3: jmp *%rax
      "0f 92 c0 "  // 5: setb %al
      "c3",
      {0, 5});
  EXPECT_EQ(flags(function.live(), 3), kCarry);
}

TEST(LiveState, jumps_out_of_the_function_need_everything_unless_it_is_known_better) {
  const Function function(
      "85 ff "              // 0: test %edi,%edi
      "0f 84 00 01 00 00 "  // 2: je 0x1108
      "31 c0 "              // 8: xor %eax,%eax
      "e9 00 02 00 00",     // a: jmp 0x120f
      {0, 8});
  EXPECT_EQ(flags(function.live(), 2), kArithmeticFlags);
  EXPECT_EQ(flags(function.live(), 0xA), kArithmeticFlags);
  EXPECT_EQ(registers(function.live(), 8), kAll & ~kRax);
  const std::vector<FlagsReadAt> outside = {{Address{0x1108}, kCarry}, {Address{0x120F}, 0}};
  EXPECT_EQ(flags(function.live(outside), 2), kZero | kCarry);
  EXPECT_EQ(flags(function.live(outside), 0xA), 0U);
}

TEST(LiveState, a_known_callee_that_reads_flags_makes_them_live) {
  const Function function("f9 e8 00 01 00 00 c3", {0, 6});  // stc; call 0x1106
  const std::vector<FlagsReadAt> outside = {{Address{0x1106}, kCarry}};
  EXPECT_EQ(flags(function.live(), 1), 0U);
  EXPECT_EQ(flags(function.live(outside), 1), kCarry);
}

TEST(LiveState, system_calls_keep_flags_and_overwrite_rcx_and_r11) {
  const Function function(
      "0f 05 "     // 0: syscall
      "0f 94 c0 "  // 2: sete %al
      "c3");
  const LiveState live = function.live();
  EXPECT_EQ(flags(live, 0), kZero);
  EXPECT_EQ(registers(live, 0), kAll & ~(kRcx | kR11));
}

TEST(LiveState, everything_is_live_where_control_goes_to_no_block) {
  Function function(
      "31 c0 "  // 0: xor %eax,%eax
      "90 "     // 2: nop; the next instruction is unmapped
      "c3",
      {0});
  function.graph.blocks.front().lengths.pop_back();
  function.graph.blocks.front().last.flow = core::Flow::next;
  function.graph.blocks.front().last.address = Address{kStart + 2};
  function.graph.blocks.front().last.length = 1;
  function.graph.blocks.front().falls_through = true;
  const LiveState live = function.live();
  EXPECT_EQ(flags(live, 2), kArithmeticFlags);
  EXPECT_EQ(registers(live, 2), kAll);
  EXPECT_EQ(flags(live, 0), 0U);
  EXPECT_EQ(live.before(Address{kStart + 1}), (LiveBefore{kArithmeticFlags, kAll}));
  EXPECT_EQ(live.before(Address{kStart + 100}), (LiveBefore{kArithmeticFlags, kAll}));
}

TEST(LiveState, traps_show_everything) {
  const Function function("b8 00 00 00 00 85 c0 0f 0b");  // mov; test; ud2
  EXPECT_EQ(flags(function.live(), 7), kArithmeticFlags);
  EXPECT_EQ(registers(function.live(), 7), kAll);
  EXPECT_EQ(registers(function.live(), 0) & (kRax | kRdx), kRdx);
}

TEST(LiveState, code_outside_reads_no_flags_if_it_sets_them_or_calls_or_comes_back) {
  const auto look = [](std::string_view hex) {
    return find_without_flags(arch::bytes_of(hex), Address{0x5000});
  };
  const auto sets = look("48 89 c7 85 c0 74 05");  // mov; test; je
  ASSERT_TRUE(sets);
  EXPECT_FALSE(sets->then);
  const auto calls = look("48 89 c7 e8 00 00 00 00");  // mov; call
  ASSERT_TRUE(calls);
  EXPECT_FALSE(calls->then);
  const auto returns = look("48 89 c7 e9 f8 0f 00 00");  // mov; jmp 0x6000
  ASSERT_TRUE(returns);
  EXPECT_EQ(returns->then, Address{0x6000});
  EXPECT_FALSE(look("48 89 c7 74 05"));  // mov; je
  EXPECT_FALSE(look("48 ff c0 72 05"));  // inc, which leaves CF; jb
  EXPECT_FALSE(look("48 89 c7 ff e0"));  // mov; jmp *%rax
  EXPECT_FALSE(look("48 89 c7"));        // what follows is not known
  EXPECT_FALSE(look(""));
}

}  // namespace
}  // namespace sp::rewriter
