#include "supervisor/breakpoints/code_regions.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using core::Address;

CodeGround ground_of(const char* maps) {
  CodeGround ground;
  ground.set(core::parse_maps(maps));
  return ground;
}

TEST(CodeGround, text_of_a_file_is_fixed) {
  const CodeGround ground = ground_of("1000-2000 r-xp 00000000 08:01 7 /bin/a\n");
  EXPECT_EQ(ground.at(Address{0x1000}), Ground::fixed);
  EXPECT_EQ(ground.at(Address{0x2000}), Ground::none);
}

TEST(CodeGround, what_can_change_under_us_is_shifting) {
  const CodeGround ground = ground_of(
      "1000-2000 rwxp 00000000 08:01 7 /bin/a\n"
      "2000-3000 r-xs 00000000 08:01 7 /bin/a\n"
      "3000-4000 r-xp 00000000 00:00 0\n");
  EXPECT_EQ(ground.at(Address{0x1000}), Ground::shifting);
  EXPECT_EQ(ground.at(Address{0x2000}), Ground::shifting);
  EXPECT_EQ(ground.at(Address{0x3000}), Ground::shifting);
}

TEST(CodeGround, the_vdso_is_fixed_and_known) {
  const CodeGround ground = ground_of("5000-7000 r-xp 00000000 00:00 0 [vdso]\n");
  EXPECT_EQ(ground.at(Address{0x5000}), Ground::fixed);
  EXPECT_EQ(ground.vdso(), (core::AddressRange{Address{0x5000}, Address{0x7000}}));
}

TEST(CodeGround, only_executable_mappings_overlap) {
  const CodeGround ground = ground_of(
      "1000-2000 r--p 00000000 08:01 7 /bin/a\n"
      "2000-3000 r-xp 00001000 08:01 7 /bin/a\n");
  EXPECT_FALSE(ground.overlaps({Address{0x1000}, Address{0x2000}}));
  EXPECT_TRUE(ground.overlaps({Address{0x1000}, Address{0x2001}}));
}

}  // namespace
}  // namespace sp::supervisor
