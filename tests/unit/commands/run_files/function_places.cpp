// Which functions of the committed fixtures have places, for both CPUs and all compilers.
#include "commands/run_files/function_places.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "commands/run_files/function_table.h"
#include "symbols/filter_rule.h"
#include "symbols/function_filters.h"
#include "unit/symbols/left_fixtures.h"

namespace sp::run_files {
namespace {

using core::Via;
using Names = std::set<std::string>;

FunctionTableInput input_of(const std::string& fixture, Via via) {
  FunctionTableInput input;
  input.image = test::left_fixture(fixture);
  input.path = "/opt/" + fixture;
  input.places.via = via;
  return input;
}

/// The functions that would be traced, with the place of that name.
Names chosen(const FunctionTableInput& input, const std::string& place) {
  Names names;
  for (const TabledFunction& one : function_table(input)) {
    if (one.row.is_instrumented) {
      names.insert(one.row.linkage_name);
      EXPECT_EQ(one.row.place, place);
    } else if (one.function.has_known_end) {
      EXPECT_EQ(one.row.reason, "no-place:--via " + place) << one.row.linkage_name;
    }
  }
  return names;
}

/// Compilers differ in _start.
void expect_hooked(const std::string& prefix, Via via, const std::string& place) {
  const auto fixtures = test::left_fixtures(prefix);
  EXPECT_GE(fixtures.size(), 3U) << prefix;
  for (const std::string& fixture : fixtures) {
    Names names = chosen(input_of(fixture, via), place);
    names.erase("_start");
    EXPECT_EQ(names, (Names{"leaf", "middle", "outer"})) << fixture;
  }
}

TEST(FunctionPlaces, are_found_in_what_each_compiler_makes_for_each_cpu) {
  expect_hooked("cyg-", Via::cyg, "cyg");
  expect_hooked("fentry", Via::fentry, "fentry");
  expect_hooked("mcount-", Via::fentry, "fentry");
  expect_hooked("patchable", Via::patchable, "patchable");
}

TEST(FunctionPlaces, of_xray_are_sleds_and_have_ids) {
  for (const std::string& fixture : test::left_fixtures("xray-")) {
    if (fixture.ends_with("stripped")) {
      continue;  // nothing tells where functions end
    }
    const bool is_library = fixture.ends_with("shared");
    FunctionTableInput input = input_of(fixture, Via::xray);
    const Names all = chosen(input, "xray");
    EXPECT_TRUE(all.contains(is_library ? "library_tail" : "tail")) << fixture;
    EXPECT_FALSE(all.contains("never")) << fixture;
    EXPECT_FALSE(all.contains("_start")) << fixture;
    input.places.xray_ids = {{"", 2, 2}, {"/opt/other", 1, 9}};
    std::size_t unpatched = 0;
    Names named;
    for (const TabledFunction& one : function_table(input)) {
      unpatched += one.is_unpatched ? 1 : 0;
      if (one.row.is_instrumented) {
        named.insert(one.row.linkage_name);
        EXPECT_EQ(one.row.xray_id, 2U);
      }
    }
    EXPECT_EQ(named.size(), 1U) << fixture;
    EXPECT_EQ(unpatched, all.size() - 1) << fixture;
  }
}

TEST(FunctionPlaces, of_a_function_that_is_always_instrumented_are_known_to_rules) {
  symbols::FilterRules rules;
  rules.block.push_back({.name = "rest", .xray_always = false});
  const symbols::FunctionFilters filters(rules);
  FunctionTableInput input = input_of("xray-clang14-x86_64-pie", Via::xray);
  input.filters = &filters;
  std::map<std::string, std::string> reasons;
  for (const TabledFunction& one : function_table(input)) {
    reasons[one.row.linkage_name] = one.row.reason;
  }
  EXPECT_EQ(reasons["always"], "default");
  EXPECT_EQ(reasons["leaf"], "block:rest");
  EXPECT_EQ(reasons["never"], "no-place:--via xray");
}

TEST(FunctionPlaces, that_a_file_does_not_have_are_said_with_those_that_it_has) {
  const auto complaint = [](const std::string& fixture, core::PlaceChoice choice) {
    const auto checked = check_places(test::left_fixture(fixture), "./" + fixture, choice);
    return checked ? "" : checked.error().doing;
  };
  const std::string xray = "xray-clang14-x86_64-pie";
  EXPECT_EQ(complaint(xray, {}), "");
  EXPECT_EQ(complaint(xray, {Via::xray, {{"", 1, 4}}}), "");
  EXPECT_EQ(complaint(xray, {Via::xray, {{"", 3, 5}}}),
            "--xray-id: ./" + xray + " has the ids 1 to 4, and not 5; superprofiler xray ./" +
                xray + " lists them");
  EXPECT_EQ(complaint(xray, {Via::cyg, {}}),
            "--via cyg: ./" + xray + " has no such place; it has XRay sleds; compile it with " +
                "-finstrument-functions, or leave out --via");
  EXPECT_NE(complaint("mcount-gcc12-x86_64-pie", {Via::patchable, {}}).find("mcount (-pg)"),
            std::string::npos);
}

TEST(FunctionPlaces, of_damaged_files_do_no_harm) {
  std::mt19937_64 random(11);
  for (const char* const fixture : {"xray-clang14-x86_64-pie", "patchable-gcc12-x86_64-pie"}) {
    test::damage_fixture(fixture, random, [&](const auto& image, std::size_t /*size*/) {
      FunctionTableInput input;
      input.image = image;
      input.places.via = fixture[0] == 'x' ? Via::xray : Via::patchable;
      EXPECT_LT(function_table(input).size(), 10'000U);
    });
  }
}

TEST(FunctionPlaces, of_one_file_are_named_by_its_path_or_name) {
  const std::vector<core::XrayIds> ids = {{"", 1, 2}, {"libx.so", 7, 9}};
  EXPECT_TRUE(names_id(ids, "/opt/prog", 2));
  EXPECT_FALSE(names_id(ids, "/opt/prog", 7));
  EXPECT_TRUE(names_id(ids, "/usr/lib/libx.so", 8));
  EXPECT_FALSE(names_id(ids, "/usr/lib/libx.so", 10));
}

}  // namespace
}  // namespace sp::run_files
