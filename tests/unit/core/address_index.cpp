#include "core/address_index.h"

#include <gtest/gtest.h>

#include <vector>

namespace sp::core {
namespace {

std::vector<std::uint32_t> in(const AddressIndex& index, std::uint64_t begin, std::uint64_t end) {
  std::vector<std::uint32_t> numbers;
  index.for_each({Address{begin}, Address{end}}, [&](std::uint32_t n) { numbers.push_back(n); });
  return numbers;
}

constexpr std::uint64_t kEver = ~std::uint64_t{0};

AddressIndex made() {
  AddressIndex index;
  EXPECT_TRUE(index.add(Address{0x7fff0}, 3));
  EXPECT_TRUE(index.add(Address{0x1234}, 0));
  EXPECT_TRUE(index.add(Address{0x1000}, 1));
  EXPECT_TRUE(index.add(Address{0x2000}, 2));
  return index;
}

TEST(AddressIndex, finds_what_was_added_first) {
  AddressIndex index = made();
  EXPECT_FALSE(index.add(Address{0x1234}, 9));
  EXPECT_EQ(index.find(Address{0x1234}), 0U);
  EXPECT_EQ(index.find(Address{0x7fff0}), 3U);
  EXPECT_EQ(index.find(Address{0x1235}), AddressIndex::kNone);
  EXPECT_EQ(index.find(Address{0x5000}), AddressIndex::kNone);
}

TEST(AddressIndex, visits_in_the_order_of_addresses) {
  const AddressIndex index = made();
  EXPECT_EQ(in(index, 0, kEver), (std::vector<std::uint32_t>{1, 0, 2, 3}));
  EXPECT_EQ(in(index, 0x1001, 0x2000), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(in(index, 0x1234, 0x2001), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(in(index, 0x3000, 0x3000).empty());
}

TEST(AddressIndex, erases_a_range) {
  AddressIndex index = made();
  index.erase({Address{0x1001}, Address{0x2001}});
  EXPECT_EQ(in(index, 0, kEver), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_TRUE(index.add(Address{0x2000}, 7));
  EXPECT_EQ(in(index, 0, kEver), (std::vector<std::uint32_t>{1, 7, 3}));
}

TEST(AddressIndex, is_copied) {
  AddressIndex index = made();
  const AddressIndex copy = index;
  index.erase({Address{0}, Address{kEver}});
  EXPECT_TRUE(in(index, 0, kEver).empty());
  EXPECT_EQ(in(copy, 0, kEver).size(), 4U);
}

}  // namespace
}  // namespace sp::core
