#include "analyzer/control_flow_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "arch/native.h"
#include "unit/arch/bytes.h"

namespace sp::analyzer {
namespace {

using core::Address;
using core::Flow;

constexpr std::uint64_t kBase = 0x401000;

std::vector<Address> at(std::initializer_list<std::uint64_t> offsets) {
  std::vector<Address> addresses;
  for (const std::uint64_t offset : offsets) {
    addresses.push_back(Address{kBase + offset});
  }
  return addresses;
}

ReadCode reader_of(const std::vector<std::byte>& code, std::uint64_t base = kBase) {
  return [&code, base](Address from, std::span<std::byte> into) -> std::size_t {
    if (from.value() < base || from.value() >= base + code.size()) {
      return 0;
    }
    const std::size_t skipped = from.value() - base;
    const std::size_t size = std::min(into.size(), code.size() - skipped);
    std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(skipped), size, into.begin());
    return size;
  };
}

/// The graph of a function that begins at kBase and consists of `code`.
core::ControlFlowGraph map_of(const std::vector<std::byte>& code,
                              const std::vector<Address>& leaders) {
  return build_control_flow_graph({Address{kBase}, Address{kBase + code.size()}}, leaders,
                                  reader_of(code));
}

std::vector<std::uint64_t> starts(const core::ControlFlowGraph& map) {
  std::vector<std::uint64_t> found;
  for (const core::BasicBlock& block : map.blocks) {
    found.push_back(block.start.value() - kBase);
  }
  return found;
}

void expect_sound(const core::ControlFlowGraph& map, core::AddressRange bounds) {
  Address end = bounds.begin;
  for (const core::BasicBlock& block : map.blocks) {
    EXPECT_GE(block.start, end);
    end = block.start;
    ASSERT_FALSE(block.lengths.empty());
    Address last = end;
    for (const std::uint8_t length : block.lengths) {
      last = end;
      end = end + length;
    }
    EXPECT_EQ(block.last.address, last);
    EXPECT_EQ(block.last.next(), end);
    EXPECT_EQ(block.falls_through, !core::ends_block(block.last.flow));
    EXPECT_LE(end, bounds.end);
  }
}

/// The bytes below are x86-64 code.
class FunctionMapX86 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "decodes x86-64 code with the decoder of this CPU";
    }
  }
};

TEST_F(FunctionMapX86, cuts_at_branches_and_where_they_go) {
  // 0 xor eax,eax; 2 test edi,edi; 4 je 8; 6 inc eax; 8 ret
  const auto map = map_of(arch::bytes_of("31c0 85ff 7402 ffc0 c3"), at({0}));
  ASSERT_EQ(starts(map), (std::vector<std::uint64_t>{0, 6, 8}));
  EXPECT_EQ(map.blocks[0].lengths, (std::vector<std::uint8_t>{2, 2, 2}));
  EXPECT_EQ(map.blocks[0].last.flow, Flow::branch);
  EXPECT_EQ(map.blocks[0].last.target, Address{kBase + 8});
  EXPECT_FALSE(map.blocks[0].falls_through);
  EXPECT_TRUE(map.blocks[1].falls_through);
  EXPECT_FALSE(map.blocks[2].falls_through);
  EXPECT_TRUE(map.unresolved.empty() && map.transfers.empty() && map.unmapped.empty());
}

TEST_F(FunctionMapX86, splits_a_block_that_is_jumped_into) {
  // 0 nop; 1 inc eax; 3 cmp eax,9; 6 jne 1; 8 ret
  const auto map = map_of(arch::bytes_of("90 ffc0 83f809 75f9 c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 1, 8}));
}

TEST_F(FunctionMapX86, goes_on_behind_calls_and_system_calls) {
  // 0 call +0x1000; 5 call *rax; 7 syscall; 9 ret
  const auto map = map_of(arch::bytes_of("e8fb0f0000 ffd0 0f05 c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 5, 7}));
  EXPECT_EQ(map.blocks[2].lengths, (std::vector<std::uint8_t>{2, 1}));
  EXPECT_EQ(map.transfers, at({0x1000}));
}

// A child begins there, and behind execve nobody.
TEST_F(FunctionMapX86, begins_a_block_behind_calls_that_make_tasks_or_programs) {
  // 0 mov eax, 56; 5 xor edx, edx; 7 syscall (clone); 9 mov eax, 59; e syscall (execve);
  // 10 mov eax, 39; 15 syscall (getpid); 17 ret
  const auto map =
      map_of(arch::bytes_of("b838000000 31d2 0f05 b83b000000 0f05 b827000000 0f05 c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 9, 16}));
  EXPECT_TRUE(map.blocks[0].falls_through);
}

TEST_F(FunctionMapX86, leaves_out_what_is_no_code_behind_a_call) {
  // 0 je 7; 2 call; 7 ret: ordinary. Then with bytes after the call that do not decode.
  const auto map = map_of(arch::bytes_of("7408 e8f90f0000 060606 c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 2, 10}));
  EXPECT_TRUE(map.unmapped.empty());
}

TEST_F(FunctionMapX86, leaves_out_what_runs_over_the_end_behind_a_call) {
  const auto map = map_of(arch::bytes_of("e8fb0f0000 909090"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0}));
}

TEST_F(FunctionMapX86, believes_certain_code_more_than_what_is_behind_a_call) {
  // 0 je 8; 2 call; 7 b8: mov eax, 0xc3c03190 would swallow 8 nop; 9 xor eax,eax; 11 ret
  const auto map = map_of(arch::bytes_of("7406 e8f90f0000 b8 90 31c0 c3 c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 2, 8}));
  EXPECT_EQ(map.blocks[2].lengths, (std::vector<std::uint8_t>{1, 2, 1}));
}

TEST_F(FunctionMapX86, drops_both_conjectures_that_exclude_each_other) {
  // 0 je 9; 2 call; 7 jmp 17. 9 call; 14 mov eax, 0xc3909090; 19 ret
  // The code after the first call jumps into the middle of the code after the second.
  const auto map = map_of(arch::bytes_of("7407 e8f90f0000 eb07 e8f20f0000 b8909090c3 c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 2, 9}));
}

TEST_F(FunctionMapX86, gives_the_code_behind_a_lock_prefix_that_is_skipped_a_block) {
  // 0 je 3; 2 lock cmpxchg [rsi],ecx; 6 ret
  const auto map = map_of(arch::bytes_of("7401 f00fb10e c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 2, 3, 6}));
  EXPECT_EQ(map.blocks[1].lengths, (std::vector<std::uint8_t>{4}));
  EXPECT_FALSE(map.blocks[1].is_unlocked);
  EXPECT_EQ(map.blocks[2].lengths, (std::vector<std::uint8_t>{3}));
  EXPECT_TRUE(map.blocks[2].is_unlocked);
  EXPECT_TRUE(map.blocks[2].falls_through);
  EXPECT_TRUE(map.unmapped.empty());
}

TEST_F(FunctionMapX86, gives_other_code_that_overlaps_no_block) {
  // 0 je 3; 2 mov eax, 0x90909090; 7 ret
  const auto map = map_of(arch::bytes_of("7401 b890909090 c3"), at({0}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 2, 7}));
  EXPECT_EQ(map.unmapped, at({3}));
}

TEST_F(FunctionMapX86, keeps_what_stands_before_bytes_that_are_no_instruction) {
  const auto map = map_of(arch::bytes_of("31c0 06"), at({0}));
  ASSERT_EQ(starts(map), (std::vector<std::uint64_t>{0}));
  EXPECT_TRUE(map.blocks[0].falls_through);
  EXPECT_EQ(map.unmapped, at({2}));
}

TEST_F(FunctionMapX86, tells_that_certain_code_runs_over_the_end) {
  const auto map = map_of(arch::bytes_of("31c0"), at({0}));
  ASSERT_EQ(starts(map), (std::vector<std::uint64_t>{0}));
  EXPECT_TRUE(map.blocks[0].falls_through);
  EXPECT_EQ(map.transfers, at({2}));
}

TEST_F(FunctionMapX86, begins_at_every_leader) {
  // 0 ret; 1 inc eax; 3 ud2; 5 inc eax; 7 ret
  const auto map = map_of(arch::bytes_of("c3 ffc0 0f0b ffc0 c3"), at({0, 1, 7, 100}));
  EXPECT_EQ(starts(map), (std::vector<std::uint64_t>{0, 1, 7}));
}

TEST_F(FunctionMapX86, tells_of_indirect_jumps_that_it_does_not_know) {
  const auto map = map_of(arch::bytes_of("488b07 ffe0"), at({0}));
  EXPECT_EQ(map.unresolved, at({3}));
}

TEST_F(FunctionMapX86, maps_nothing_where_nothing_can_be_read) {
  const std::vector<std::byte> none;
  const auto map =
      build_control_flow_graph({Address{kBase}, Address{kBase + 16}}, at({0}), reader_of(none));
  EXPECT_TRUE(map.blocks.empty());
  EXPECT_EQ(map.unmapped, at({0}));
}

TEST(ControlFlowGraph, stays_sound_and_ends_whatever_the_bytes_are) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> code(1 + random() % 4000);
    for (std::byte& byte : code) {
      byte = static_cast<std::byte>(random());
      if (random() % 8 == 0) {
        byte = std::byte{0xE8};  // many calls
      }
      if (random() % 3 == 0) {
        byte = std::byte{0};
      }
    }
    std::vector<Address> leaders;
    for (int i = 0; i < 40; ++i) {
      leaders.push_back(Address{kBase + random() % code.size()});
    }
    expect_sound(map_of(code, leaders), {Address{kBase}, Address{kBase + code.size()}});
  }
}

}  // namespace
}  // namespace sp::analyzer
