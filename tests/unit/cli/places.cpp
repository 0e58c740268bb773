#include <gtest/gtest.h>

#include "cli/values.h"
#include "parsing.h"

namespace sp::cli {
namespace {

using core::XrayIds;
using Ids = std::vector<XrayIds>;

core::PlaceChoice places(std::vector<std::string> words) {
  words.insert(words.end(), {"--", "prog"});
  return record(words).places;
}

TEST(Places, are_any_or_of_one_kind) {
  EXPECT_TRUE(places({"--trace"}).is_any());
  EXPECT_TRUE(places({"--trace", "--via", "int3"}).is_any());
  EXPECT_EQ(places({"--trace", "--via", "cyg"}).via, core::Via::cyg);
  EXPECT_EQ(places({"--tree", "--via", "patchable"}).via, core::Via::patchable);
  const auto named = places({"--trace", "--xray-id", "1,3-5", "--xray-id", "libx.so:7"});
  EXPECT_EQ(named.via, core::Via::xray);
  EXPECT_EQ(named.xray_ids, (Ids{{"", 1, 1}, {"", 3, 5}, {"libx.so", 7, 7}}));
}

TEST(Places, that_are_named_by_ids_keep_their_breakpoints) {
  EXPECT_TRUE(record({"--trace", "--xray-id", "1", "--", "prog"}).allow_bottlenecking);
  EXPECT_FALSE(record({"--trace", "--via", "xray", "--", "prog"}).allow_bottlenecking);
  EXPECT_FALSE(
      record({"--trace", "--xray-id", "1", "--learn", "2s", "--", "prog"}).allow_bottlenecking);
}

TEST(Places, that_make_no_sense_are_refused) {
  EXPECT_NE(usage_error({"--trace", "--via", "sleds", "--", "prog"}).find("xray"),
            std::string::npos);
  EXPECT_EQ(usage_error({"--via", "xray", "--", "prog"}),
            "--via is for --trace; add --trace, or leave it out");
  EXPECT_EQ(usage_error({"--trace", "--via", "fentry", "--xray-id", "1", "--", "prog"}),
            "--xray-id chooses functions with XRay sleds; leave out --via fentry, or write --via "
            "xray");
  for (const char* const bad : {"0", "-1", "3-", "5-3", "x", ":3", "1,,2", "4294967296"}) {
    EXPECT_FALSE(parse_xray_ids(bad).has_value()) << bad;
  }
  EXPECT_FALSE(parse_xray_ids("").has_value());
}

}  // namespace
}  // namespace sp::cli
