#include "supervisor/breakpoints/code_regions.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using core::Address;

CodeRegions ground_of(const char* maps) {
  CodeRegions regions;
  regions.set(core::parse_maps(maps));
  return regions;
}

TEST(CodeRegions, text_of_a_file_is_fixed) {
  const CodeRegions regions = ground_of("1000-2000 r-xp 00000000 08:01 7 /bin/a\n");
  EXPECT_EQ(regions.at(Address{0x1000}), CodeKind::file_backed);
  EXPECT_EQ(regions.at(Address{0x2000}), CodeKind::not_executable);
}

TEST(CodeRegions, what_can_change_under_us_is_shifting) {
  const CodeRegions regions = ground_of(
      "1000-2000 rwxp 00000000 08:01 7 /bin/a\n"
      "2000-3000 r-xs 00000000 08:01 7 /bin/a\n"
      "3000-4000 r-xp 00000000 00:00 0\n");
  EXPECT_EQ(regions.at(Address{0x1000}), CodeKind::writable);
  EXPECT_EQ(regions.at(Address{0x2000}), CodeKind::writable);
  EXPECT_EQ(regions.at(Address{0x3000}), CodeKind::writable);
}

TEST(CodeRegions, what_mono_reads_holds_no_breakpoints) {
  const CodeRegions regions =
      ground_of("1000-2000 r-xp 00000000 08:01 7 /usr/lib/mono/mscorlib.dll.so\n");
  EXPECT_EQ(regions.at(Address{0x1000}), CodeKind::writable);
}

TEST(CodeRegions, the_vdso_is_fixed_and_known) {
  const CodeRegions regions = ground_of("5000-7000 r-xp 00000000 00:00 0 [vdso]\n");
  EXPECT_EQ(regions.at(Address{0x5000}), CodeKind::file_backed);
  EXPECT_EQ(regions.vdso(), (core::AddressRange{Address{0x5000}, Address{0x7000}}));
}

TEST(CodeRegions, only_executable_mappings_overlap) {
  const CodeRegions regions = ground_of(
      "1000-2000 r--p 00000000 08:01 7 /bin/a\n"
      "2000-3000 r-xp 00001000 08:01 7 /bin/a\n");
  EXPECT_FALSE(regions.overlaps({Address{0x1000}, Address{0x2000}}));
  EXPECT_TRUE(regions.overlaps({Address{0x1000}, Address{0x2001}}));
}

}  // namespace
}  // namespace sp::supervisor
