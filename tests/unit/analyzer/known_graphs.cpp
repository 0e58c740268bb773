#include "analyzer/known_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "arch/native.h"
#include "unit/arch/bytes.h"

namespace sp::analyzer {
namespace {

using core::Address;

constexpr std::uint64_t kBase = 0x401000;

/// Code and, behind it, data, mapped at an address.
struct Memory {
  Address begin{kBase};
  std::vector<std::byte> bytes;
  std::uint64_t bias = 0;

  [[nodiscard]] ReadCode reader() const {
    return [this](Address from, std::span<std::byte> into) -> std::size_t {
      if (from < begin || from - begin >= bytes.size()) {
        return 0;
      }
      const std::size_t skipped = from - begin;
      const std::size_t size = std::min(into.size(), bytes.size() - skipped);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(skipped), size, into.begin());
      return size;
    };
  }
};

void expect_same(const core::ControlFlowGraph& one, const core::ControlFlowGraph& other) {
  ASSERT_EQ(one.blocks.size(), other.blocks.size());
  for (std::size_t i = 0; i < one.blocks.size(); ++i) {
    EXPECT_EQ(one.blocks[i].start, other.blocks[i].start);
    EXPECT_EQ(one.blocks[i].lengths, other.blocks[i].lengths);
    EXPECT_EQ(one.blocks[i].last.address, other.blocks[i].last.address);
    EXPECT_EQ(one.blocks[i].last.target, other.blocks[i].last.target);
  }
  EXPECT_EQ(one.transfers, other.transfers);
  EXPECT_EQ(one.unresolved, other.unresolved);
  EXPECT_EQ(one.unmapped, other.unmapped);
  EXPECT_EQ(one.table_destinations, other.table_destinations);
}

class Graphs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "the code is of x86-64";
    }
  }

  /// Asks for the first `size` bytes as a function.
  core::ControlFlowGraph ask(const Memory& memory, std::size_t size,
                             std::vector<std::uint64_t> offsets = {0},
                             const core::TableHints* hints = nullptr) {
    std::vector<Address> leaders;
    for (const std::uint64_t offset : offsets) {
      leaders.push_back(memory.begin + offset);
    }
    const core::AddressRange bounds{memory.begin, memory.begin + size};
    const auto graph = known_.map(bounds, memory.bias, leaders, memory.reader(), hints);
    expect_same(graph, build_control_flow_graph(bounds, leaders, memory.reader(), hints));
    return graph;
  }

  KnownGraphs known_;
  core::TableHints hints_{[](core::AddressRange) { return std::nullopt; },
                          [](Address) { return true; }, [](Address) { return false; }};
  // cmp edi, 1; ja +19; mov edi, edi; lea rax, [rip + 11]; movsxd rdx, [rax + rdi * 4];
  // add rax, rdx; jmp rax; ret; ret; then the table.
  static constexpr std::size_t kTableAt = 25;
  Memory table_{Address{kBase},
                arch::bytes_of("83ff01 7713 89ff 488d050b000000 486314b8 4801d0 ffe0 c3 c3 "
                               "feffffff ffffffff")};
  // test edi, edi; je +5; call +0x100; ret
  Memory direct_{Address{kBase}, arch::bytes_of("85 ff 74 05 e8 00 01 00 00 c3")};
};

TEST_F(Graphs, of_the_same_bytes_are_made_once) {
  ask(direct_, direct_.bytes.size());
  EXPECT_EQ(known_.reused(), 0U);
  ask(direct_, direct_.bytes.size());
  EXPECT_EQ(known_.reused(), 1U);
  ask(direct_, direct_.bytes.size(), {0}, &hints_);  // no table that they could tell of
  EXPECT_EQ(known_.reused(), 2U);
}

TEST_F(Graphs, are_moved_with_the_code) {
  ask(direct_, direct_.bytes.size());
  direct_.begin = Address{0x7f00'1234'5000};
  const auto graph = ask(direct_, direct_.bytes.size());
  EXPECT_EQ(known_.reused(), 1U);
  EXPECT_EQ(graph.transfers, std::vector{direct_.begin + 0x109});
}

TEST_F(Graphs, of_other_bytes_or_leaders_are_made_anew) {
  ask(direct_, direct_.bytes.size());
  ask(direct_, direct_.bytes.size(), {0, 2});
  direct_.bytes.back() = std::byte{0xF4};  // hlt
  ask(direct_, direct_.bytes.size());
  EXPECT_EQ(known_.reused(), 0U);
}

TEST_F(Graphs, with_tables_are_made_anew_where_the_table_or_the_address_is_another) {
  Memory code = table_;
  constexpr std::size_t kSize = kTableAt;
  const auto graph = ask(code, kSize);
  ASSERT_EQ(graph.table_destinations.size(), 2U);
  ask(code, kSize);
  EXPECT_EQ(known_.reused(), 1U);
  code.bytes.at(kSize) = std::byte{0xFF};
  EXPECT_EQ(ask(code, kSize).table_destinations.size(), 1U);
  EXPECT_EQ(known_.reused(), 1U);
  code.begin = Address{kBase + 0x1000};
  ask(code, kSize);
  EXPECT_EQ(known_.reused(), 1U);
  code.bias = 0x1000;  // the same place of a module that is mapped elsewhere
  ask(code, kSize);
  EXPECT_EQ(known_.reused(), 2U);
}

TEST_F(Graphs, with_tables_are_made_anew_where_a_hint_is_another) {
  Memory code = table_;
  ask(code, kTableAt);
  ask(code, kTableAt, {0}, &hints_);
  EXPECT_EQ(known_.reused(), 0U);
  ask(code, kTableAt, {0}, &hints_);
  EXPECT_EQ(known_.reused(), 1U);
  hints_.last_data_in = [](core::AddressRange range) { return std::optional(range.end - 1); };
  ask(code, kTableAt, {0}, &hints_);
  EXPECT_EQ(known_.reused(), 1U);
  ask(code, kTableAt, {0}, &hints_);
  EXPECT_EQ(known_.reused(), 2U);
}

TEST_F(Graphs, are_forgotten_when_they_take_too_much) {
  known_ = KnownGraphs(2'000);
  for (std::uint64_t at = kBase; at < kBase + 0x10000; at += 0x1000) {
    direct_.begin = Address{at};
    direct_.bytes[5] = static_cast<std::byte>((at >> 12U) & 0xFFU);  // each its own
    ask(direct_, direct_.bytes.size());
    ask(direct_, direct_.bytes.size());
  }
  EXPECT_EQ(known_.reused(), 16U);
  direct_.bytes[5] = static_cast<std::byte>((kBase >> 12U) & 0xFFU);
  ask(direct_, direct_.bytes.size());
  EXPECT_EQ(known_.reused(), 16U);
}

}  // namespace
}  // namespace sp::analyzer
