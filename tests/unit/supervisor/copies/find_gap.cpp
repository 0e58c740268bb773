// Where memory for counters and copies is put, from lists of mappings.
#include <gtest/gtest.h>

#include <string_view>

#include "arch/native.h"
#include "supervisor/copies/copy_region.h"
#include "supervisor/copies/counter_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::AddressRange;

constexpr std::uint64_t kReach = arch::Native::kJumpReach;
constexpr std::uint64_t kMiB = 1U << 20U;

std::vector<core::Mapping> maps_of(std::vector<AddressRange> ranges) {
  std::vector<core::Mapping> maps;
  for (const AddressRange range : ranges) {
    core::Mapping mapping;
    mapping.range = range;
    maps.push_back(mapping);
  }
  return maps;
}

AddressRange range(std::uint64_t begin, std::uint64_t end) {
  return {Address{begin}, Address{end}};
}

bool is_apart(AddressRange gap, const std::vector<core::Mapping>& maps) {
  return std::none_of(maps.begin(), maps.end(), [gap](const core::Mapping& mapping) {
    return mapping.range.begin < gap.end && gap.begin < mapping.range.end;
  });
}

TEST(CopyGap, is_the_nearest_below_the_module) {
  const auto module = range(0x5555'0000'0000, 0x5555'0010'0000);
  const auto maps = maps_of({range(0x5554'f800'0000, 0x5554'f900'0000), module,
                             range(0x5555'0020'0000, 0x5555'0100'0000)});
  const auto gap = find_copy_gap(maps, module, kMiB);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->size(), kMiB);
  EXPECT_LT(gap->end, module.begin);
  EXPECT_LT(module.begin - gap->end, kMiB);
}

TEST(CopyGap, leaves_out_gaps_that_are_too_small) {
  const auto module = range(0x5555'0000'0000, 0x5555'0010'0000);
  const std::uint64_t other = module.begin.value() - kReach / 2;
  const auto maps = maps_of({range(other, module.begin.value() - kMiB), module});
  const auto gap = find_copy_gap(maps, module, 2 * kMiB);
  ASSERT_TRUE(gap);
  EXPECT_LT(gap->end, Address{other});
  EXPECT_TRUE(is_apart(*gap, maps));
}

TEST(CopyGap, of_a_program_at_a_fixed_address_is_far_from_its_heap) {
  const auto module = range(0x40'0000, 0x80'0000);
  const auto maps = maps_of({module, range(0x200'0000, 0x300'0000)});
  const auto gap = find_copy_gap(maps, module, 8 * kMiB);
  ASSERT_TRUE(gap);
  EXPECT_GT(gap->begin, Address{0x300'0000});
  constexpr std::uint64_t kWithoutBase = std::uint64_t{1} << 31U;  // a displacement's reach
  const std::uint64_t highest = std::min(module.begin.value() + kReach, kWithoutBase);
  EXPECT_LE(gap->end.value(), highest);
  EXPECT_GT(gap->end.value(), highest - kMiB);
}

TEST(CopyGap, reaches_the_whole_module) {
  // The program's data is so far behind its text that little below the text reaches it.
  const auto module = range(0x5555'0000'0000, 0x5555'0000'0000 + kReach - 16 * kMiB);
  const auto maps =
      maps_of({range(0x5554'ff80'0000, 0x5554'fff0'0000), range(0x5555'0000'0000, 0x5555'0010'0000),
               range(module.end.value() - kMiB, module.end.value())});
  EXPECT_FALSE(find_copy_gap(maps, module, 32 * kMiB));
  const auto gap = find_copy_gap(maps, module, 4 * kMiB);
  ASSERT_TRUE(gap);
  EXPECT_TRUE(is_apart(*gap, maps));
  EXPECT_LT(std::max(gap->end, module.end) - std::min(gap->begin, module.begin), kReach);
}

TEST(CopyGap, is_none_where_all_is_taken) {
  const auto module = range(0x10000, 0x8000'0000'0000);
  EXPECT_FALSE(find_copy_gap(maps_of({module}), module, 4096));
  // What the kernel lists behind the end of a program's addresses ends no gap.
  const auto low = range(0x10000, 0x7000'0000'0000);
  EXPECT_FALSE(find_copy_gap(maps_of({low, range(0x7fff'ffff'f000, 0x8000'0000'0000),
                                      range(0xffff'ffff'ff60'0000, 0xffff'ffff'ff60'1000)}),
                             range(0x7fff'ffff'f000, 0x8000'0000'0000), 2 * kReach));
}

TEST(CounterBase, is_within_reach_of_a_displacement) {
  const auto base = find_counter_base({}, 8 * kMiB);
  ASSERT_TRUE(base);
  EXPECT_LE(base->value() + 8 * kMiB, 1ULL << 31U);
}

TEST(CounterBase, is_where_nothing_is_mapped) {
  const auto first = *find_counter_base({}, 8 * kMiB);
  const auto maps = maps_of({{first - 4 * kMiB, first + 4 * kMiB}});
  const auto base = find_counter_base(maps, 8 * kMiB);
  ASSERT_TRUE(base);
  EXPECT_TRUE(is_apart({*base, *base + 8 * kMiB}, maps));
  EXPECT_FALSE(find_counter_base(maps_of({range(0x10000, 0x8000'0000)}), 8 * kMiB));
}

}  // namespace
}  // namespace sp::supervisor
