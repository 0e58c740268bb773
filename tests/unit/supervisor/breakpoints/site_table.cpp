#include "supervisor/breakpoints/site_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;

core::Instruction at(std::uint64_t address) {
  core::Instruction instruction;
  instruction.address = Address{address};
  instruction.length = 1;
  return instruction;
}

std::vector<std::uint64_t> all(SiteTable& table) {
  std::vector<std::uint64_t> addresses;
  table.for_each({Address{0}, Address{~std::uint64_t{0}}}, [&](const BreakpointSite& site) {
    addresses.push_back(site.instruction.address.value());
  });
  return addresses;
}

TEST(SiteTable, has_one_site_for_each_address) {
  SiteTable table;
  const auto [site, is_new] = table.try_emplace(at(0x2000));
  EXPECT_TRUE(is_new);
  site->block = 5;
  const auto again = table.try_emplace(at(0x2000));
  EXPECT_FALSE(again.second);
  EXPECT_EQ(again.first, site);
  (void)table.try_emplace(at(0x1000));
  EXPECT_EQ(table.find(Address{0x2000})->block, 5U);
  EXPECT_EQ(table.find(Address{0x2001}), nullptr);
  EXPECT_EQ(all(table), (std::vector<std::uint64_t>{0x1000, 0x2000}));
}

TEST(SiteTable, gives_the_place_of_an_erased_site_to_a_new_one) {
  SiteTable table;
  table.try_emplace(at(0x1000)).first->inserted = true;
  BreakpointSite* const other = table.try_emplace(at(0x5000)).first;
  table.erase({Address{0x1000}, Address{0x2000}});
  EXPECT_FALSE(table.contains(Address{0x1000}));
  const auto [site, is_new] = table.try_emplace(at(0x1000));
  EXPECT_TRUE(is_new);
  EXPECT_FALSE(site->inserted);
  EXPECT_EQ(table.find(Address{0x5000}), other);
}

}  // namespace
}  // namespace sp::supervisor
