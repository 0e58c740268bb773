#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "symbols/xray_map.h"
#include "unit/symbols/elf_builder.h"
#include "unit/symbols/left_fixtures.h"

namespace {

using sp::core::Sled;
using sp::symbols::read_xray_map;
using sp::symbols::XrayMap;
using sp::test::Bytes;

/// How many sleds of each kind a map has, by the kind's number.
std::vector<int> kinds_of(const XrayMap& map) {
  std::vector<int> counts(sp::core::kSledKinds);
  for (const Sled& sled : map.sleds) {
    ++counts[static_cast<std::size_t>(sled.kind)];
  }
  return counts;
}

TEST(XrayFixtures, have_the_sleds_of_their_sources) {
  std::size_t files = 0;
  for (const std::string& name : sp::test::left_fixtures("xray-")) {
    const auto map = read_xray_map(sp::test::left_fixture(name));
    ASSERT_TRUE(map.has_value() && map->has_value()) << name;
    const std::vector<int> kinds = kinds_of(**map);
    const bool is_library = name.ends_with("-shared");
    EXPECT_EQ((*map)->index_difference, "") << name;
    EXPECT_EQ((*map)->discarded, 0U) << name;
    EXPECT_GE((*map)->functions, is_library ? 3U : 4U) << name;
    EXPECT_EQ(kinds[3], is_library ? 0 : 1) << name;
    EXPECT_EQ(kinds[4] > 0, name.ends_with("-custom") || name.ends_with("-events")) << name;
    EXPECT_EQ(kinds[5] > 0, name.ends_with("-events")) << name;
    // clang for aarch64 calls tail exits exits.
    EXPECT_EQ(kinds[2], name.find("x86_64") != std::string::npos ? 1 : 0) << name;
    for (const Sled& sled : (*map)->sleds) {
      EXPECT_EQ(sled.version, 2U);
      EXPECT_GE(sled.address, sled.function);
      EXPECT_LT(sled.address - sled.function, 0x200U);
    }
    ++files;
  }
  EXPECT_EQ(files, 38U);
}

TEST(XrayFixtures, mark_what_is_always_instrumented) {
  const auto map = read_xray_map(sp::test::left_fixture("xray-clang14-x86_64-pie"));
  ASSERT_TRUE(map.has_value() && map->has_value());
  for (const Sled& sled : (*map)->sleds) {
    EXPECT_EQ(sled.always, sled.function_id == 4);
  }
}

TEST(XrayFixtures, that_are_damaged_anywhere_are_read_or_refused) {
  std::mt19937_64 random(41);
  for (const std::string name : {"xray-clang14-x86_64-pie", "xray-clang19-aarch64-events"}) {
    sp::test::damage_fixture(
        name, random, [](const auto& image, [[maybe_unused]] std::size_t size) {
          const auto map = read_xray_map(image);
          EXPECT_TRUE(!map || !*map || (*map)->functions <= (*map)->sleds.size());
        });
  }
}

}  // namespace
