// Jump tables whose number of entries no check shows. The bytes are x86-64 code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/control_flow_graph.h"
#include "arch/native.h"
#include "unit/arch/bytes.h"

namespace sp::analyzer {
namespace {

using core::Address;

constexpr std::uint64_t kBase = 0x401000;
constexpr std::uint64_t kOther = 0x30;  // another function's code, 16 bytes
constexpr std::uint64_t kTable = 0x40;

using Offsets = std::vector<std::uint64_t>;

class UnboundedTables : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "decodes x86-64 code with the decoder of this CPU";
    }
  }

  /// The function's code, and a table of distances to these places.
  void lay_out(const char* hex, std::initializer_list<std::uint64_t> places) {
    memory_ = arch::bytes_of(hex);
    size_ = memory_.size();
    memory_.resize(kTable);
    for (const std::uint64_t place : places) {
      const std::uint64_t distance = place - kTable;
      for (unsigned shift = 0; shift < 32; shift += 8) {
        memory_.push_back(static_cast<std::byte>((distance >> shift) & 0xFFU));
      }
    }
  }

  core::ControlFlowGraph map(bool with_hints = true) {
    const core::TableHints hints{
        [this](core::AddressRange range) -> std::optional<Address> {
          const auto behind = data_.lower_bound(range.end.value() - kBase);
          return behind == data_.begin() || *std::prev(behind) < range.begin.value() - kBase
                     ? std::nullopt
                     : std::optional(Address{kBase + *std::prev(behind)});
        },
        [](Address address) { return address.value() - kBase < kTable; },
        [this](Address address) { return parts_.contains(address.value() - kBase); }};
    const Address begin{kBase};
    return build_control_flow_graph(
        {begin, begin + size_}, {&begin, 1},
        [this](Address from, std::span<std::byte> into) {
          const std::size_t skipped = std::min<std::size_t>(from.value() - kBase, memory_.size());
          const std::size_t size = std::min(into.size(), memory_.size() - skipped);
          std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(skipped), size, into.begin());
          return size;
        },
        with_hints ? &hints : nullptr);
  }

  static Offsets destinations(const core::ControlFlowGraph& graph) {
    Offsets found;
    for (const Address address : graph.table_destinations) {
      found.push_back(address.value() - kBase);
    }
    return found;
  }

  std::vector<std::byte> memory_;
  std::uint64_t size_ = 0;
  std::set<std::uint64_t> data_{kTable};
  std::set<std::uint64_t> parts_;
};

// mov (%rdi),%eax; lea table(%rip),%rcx; movslq (%rcx,%rax,4),%rax; add %rcx,%rax; jmp *%rax
// 0x12: mov $1,%eax; ret; 0x18: mov $2,%eax; ret; 0x1e: mov $3,%eax; ret
constexpr const char* kSwitch =
    "8b07 488d0d37000000 48630481 4801c8 ffe0 b801000000c3 b802000000c3 b803000000c3";

TEST_F(UnboundedTables, end_where_an_entry_leads_to_no_code) {
  lay_out(kSwitch, {0x12, 0x18, 0x1e, kTable});
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x12, 0x18, 0x1e}));
  EXPECT_FALSE(map(false).unresolved.empty());
}

TEST_F(UnboundedTables, have_a_difference_of_registers_as_index) {
  // mov %rsi,%rax; lea table(%rip),%rcx; sub %rdi,%rax; movslq (%rcx,%rax,4),%rax; add; jmp *%rax
  lay_out(
      "4889f0 488d0d36000000 4829f8 48630481 4801c8 ffe0 b801000000c3 b802000000c3 b803000000c3",
      {0x16, 0x1c, 0x22, kTable});
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x16, 0x1c, 0x22}));
  EXPECT_FALSE(map(false).unresolved.empty());
}

TEST_F(UnboundedTables, hold_distances_from_a_label_of_the_function) {
  // movzbl (%rdi),%eax; lea label(%rip),%rcx; lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax;
  // add %rcx,%rax; jmp *%rax; 0x1a: the label
  constexpr std::uint64_t kFromLabel = kTable - 0x1a;
  lay_out(
      "0fb607 488d0d10000000 488d152f000000 48630482 4801c8 ffe0"
      "b801000000c3 b802000000c3 b803000000c3",
      {0x1a + kFromLabel, 0x20 + kFromLabel, 0x26 + kFromLabel, kTable + kFromLabel});
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x1a, 0x20, 0x26}));
}

TEST_F(UnboundedTables, are_not_needed_where_a_register_holds_a_label_on_all_ways) {
  // lea label(%rip),%rax; test %edi,%edi; je; mov $1,%ecx; jmp *%rax; mov $2,%ecx; jmp *%rax; ret
  lay_out("488d0512000000 85ff 7407 b901000000 ffe0 b902000000 ffe0 c3", {});
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), Offsets{0x19});
  // On one of them what the caller passed: test %edi,%edi; je; lea label(%rip),%rsi; jmp *%rsi; ret
  lay_out("85ff 7407 488d3502000000 ffe6 c3", {});
  EXPECT_EQ(map().unresolved.size(), 1U);
  // On one of them another label.
  lay_out("488d050d000000 85ff 7407 488d0503000000 ffe0 c3 c3", {});
  EXPECT_EQ(map().unresolved.size(), 1U);
}

TEST_F(UnboundedTables, end_where_an_entry_leads_to_other_code_if_other_data_begins_in_front) {
  lay_out(kSwitch, {0x12, 0x18, 0x1e, kOther});
  EXPECT_FALSE(map().unresolved.empty());
  data_.insert(kTable + 14);  // in that entry
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x12, 0x18, 0x1e}));
  data_ = {kTable, kTable + 16};  // behind it
  EXPECT_FALSE(map().unresolved.empty());
}

TEST_F(UnboundedTables, lead_to_parts_of_the_function_elsewhere) {
  lay_out(kSwitch, {0x12, kOther, 0x1e, kTable});
  EXPECT_FALSE(map().unresolved.empty());
  parts_ = {kOther};
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x12, 0x1e, kOther}));
  EXPECT_EQ(graph.transfers, std::vector{Address{kBase + kOther}});
}

TEST_F(UnboundedTables, are_shortened_where_an_entry_leads_into_an_instruction) {
  lay_out(kSwitch, {0x12, 0x18, 0x1e, 0x13, kTable});
  EXPECT_FALSE(map().unresolved.empty());
  data_.insert(kTable + 12);
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x12, 0x18, 0x1e}));
}

TEST_F(UnboundedTables, are_not_shortened_where_all_entries_may_be_theirs) {
  lay_out(kSwitch, {0x12, 0x18, 0x1e, 0x1e, 0x12, kTable});
  data_.insert(kTable + 4);
  EXPECT_EQ(destinations(map()), (Offsets{0x12, 0x18, 0x1e}));
}

TEST_F(UnboundedTables, end_where_the_next_one_of_the_function_begins) {
  // Twice mov (%rdi),%eax; lea table(%rip),%rcx; movslq; add; jmp, then ret and nop; ret
  lay_out(
      "8b07 488d0d37000000 48630481 4801c8 ffe0 8b07 488d0d2d000000 48630481 4801c8 ffe0 c3 90 c3",
      {0x12, 0x24, 0x25 - 8, 0x24 - 8, kTable});
  data_.insert(kTable + 8);
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x12, 0x24, 0x25}));
}

TEST_F(UnboundedTables, are_what_the_only_constant_says_though_calls_seem_to_come_back) {
  // push %r12; lea table(%rip),%r12; 9: mov (%rdi),%eax; movslq (%r12,%rax,4),%rax;
  // add %r12,%rax; jmp *%rax; 0x14: call; mov %rax,%r12; jmp 9; 0x1e: pop %r12; ret
  lay_out("4154 4c8d2537000000 8b07 49630484 4c01e0 ffe0 e817000000 4989c4 ebeb 415c c3",
          {0x14, 0x1e, kTable});
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x14, 0x1e}));
  EXPECT_FALSE(map(false).unresolved.empty());
}

TEST_F(UnboundedTables, begin_at_their_base_though_the_index_does_not_begin_at_0) {
  // mov (%rdi),%eax; add $-2,%rax; lea; movslq; add; jmp; 0x16: ret; 0x17: nop; ret
  lay_out("8b07 4883c0fe 488d0d33000000 48630481 4801c8 ffe0 c3 90c3", {0x16, 0x17, kTable});
  const auto graph = map();
  EXPECT_TRUE(graph.unresolved.empty());
  EXPECT_EQ(destinations(graph), (Offsets{0x16, 0x17}));
}

}  // namespace
}  // namespace sp::analyzer
