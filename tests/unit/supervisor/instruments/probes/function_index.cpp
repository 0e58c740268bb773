#include "supervisor/instruments/probes/function_index.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;
using core::AddressRange;

constexpr AddressRange kModule{Address{0x1000}, Address{0x2000}};
constexpr AddressRange kOther{Address{0x5000}, Address{0x6000}};

ProbedFunction function(std::uint64_t begin, std::uint64_t end) {
  ProbedFunction function;
  function.bounds = {Address{begin}, Address{end}};
  return function;
}

FunctionIndex index_of(std::vector<ProbedFunction> functions, bool is_whole) {
  FunctionIndex index;
  index.add_module({kModule, is_whole, {}});
  index.add(std::move(functions));
  return index;
}

TEST(FunctionIndex, finds_functions_by_address) {
  FunctionIndex index = index_of({function(0x1100, 0x1180), function(0x1010, 0x1020)}, false);
  ASSERT_NE(index.at(Address{0x117F}), nullptr);
  EXPECT_EQ(index.at(Address{0x117F})->number, 0U);
  EXPECT_EQ(index.at(Address{0x1010})->number, 1U);
  EXPECT_EQ(index.at(Address{0x100F}), nullptr);
  EXPECT_EQ(index.at(Address{0x1020}), nullptr);
  EXPECT_EQ(index.at(Address{0x1180}), nullptr);
  EXPECT_EQ(index[1].bounds.begin, Address{0x1010});
}

TEST(FunctionIndex, finds_functions_in_a_range) {
  const FunctionIndex index = index_of(
      {function(0x1010, 0x1020), function(0x1020, 0x1040), function(0x1100, 0x1180)}, false);
  using Numbers = std::vector<std::uint32_t>;
  const auto in = [&](std::uint64_t begin, std::uint64_t end) {
    return index.in({Address{begin}, Address{end}});
  };
  EXPECT_EQ(in(0x1000, 0x1010), Numbers{});
  EXPECT_EQ(in(0x1000, 0x1011), Numbers{0});
  EXPECT_EQ(in(0x101F, 0x1021), (Numbers{0, 1}));
  EXPECT_EQ(in(0x1020, 0x1021), Numbers{1});
  EXPECT_EQ(in(0x1040, 0x1100), Numbers{});
  EXPECT_EQ(in(0x1050, 0x2000), Numbers{2});
  EXPECT_EQ(in(0x0, 0x9000), (Numbers{0, 1, 2}));
  EXPECT_EQ(in(0x1180, 0x9000), Numbers{});
}

TEST(FunctionIndex, adds_none_where_only_known_functions_are_instrumented) {
  FunctionIndex index = index_of({function(0x1100, 0x1180)}, false);
  EXPECT_FALSE(index.is_in_whole_module(Address{0x1050}));
  EXPECT_EQ(index.at_or_added(Address{0x1050}), nullptr);
  EXPECT_EQ(index.all().size(), 1U);
}

TEST(FunctionIndex, adds_a_function_up_to_the_next_one) {
  FunctionIndex index = index_of({function(0x1100, 0x1180)}, true);
  EXPECT_TRUE(index.is_in_whole_module(Address{0x1050}));
  const ProbedFunction* const before = index.at_or_added(Address{0x1050});
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(before->bounds, (AddressRange{Address{0x1050}, Address{0x1100}}));
  EXPECT_EQ(before->number, 1U);
  EXPECT_EQ(index.at(Address{0x10FF}), before);
  EXPECT_EQ(index.at_or_added(Address{0x1060}), before);
}

TEST(FunctionIndex, adds_the_last_function_up_to_the_end_of_the_module) {
  FunctionIndex index = index_of({function(0x1100, 0x1180)}, true);
  const ProbedFunction* const last = index.at_or_added(Address{0x1180});
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->bounds, (AddressRange{Address{0x1180}, kModule.end}));
  EXPECT_EQ(index.at_or_added(kModule.end), nullptr);
}

TEST(FunctionIndex, gives_an_added_function_the_start_time_of_its_module) {
  FunctionIndex index;
  const core::TimePoint attached{std::chrono::seconds(1)};
  index.add_module({kModule, true, {attached, false}});
  const ProbedFunction* const added = index.at_or_added(Address{0x1050});
  ASSERT_NE(added, nullptr);
  EXPECT_EQ(added->since.time, attached);
  EXPECT_FALSE(added->since.is_new);
}

TEST(FunctionIndex, keeps_the_numbers_of_removed_functions) {
  FunctionIndex index = index_of({function(0x1100, 0x1180)}, true);
  index.add_module({kOther, false, {}});
  index.add({function(0x5000, 0x5010)});
  index.remove_module(kModule);
  EXPECT_FALSE(index.has_module(kModule));
  EXPECT_TRUE(index.has_module(kOther));
  EXPECT_EQ(index.at(Address{0x1100}), nullptr);
  EXPECT_EQ(index.at_or_added(Address{0x1100}), nullptr);
  EXPECT_EQ(index.at(Address{0x5000})->number, 1U);
  EXPECT_EQ(index[0].bounds.begin, Address{0x1100});
  index.remove_module(kOther);
  EXPECT_TRUE(index.empty());
}

TEST(FunctionIndex, tells_which_modules_are_not_mapped_any_more) {
  FunctionIndex index = index_of({}, true);
  index.add_module({kOther, true, {}});
  core::Mapping mapping;
  mapping.range = kOther;
  EXPECT_EQ(index.unmapped_modules({mapping}), std::vector<AddressRange>({kModule}));
}

core::Mapping piece(std::uint64_t begin, std::uint64_t end, std::uint64_t file_offset,
                    const std::string& path) {
  core::Mapping mapping;
  mapping.range = {Address{begin}, Address{end}};
  mapping.file_offset = file_offset;
  mapping.path = path;
  return mapping;
}

TEST(FunctionIndex, knows_a_module_whose_pages_have_other_permissions_now) {
  FunctionIndex index;
  index.add_module({{Address{0x1000}, Address{0x4000}}, true, {}, {"/lib/a", "", false, nullptr}});
  EXPECT_TRUE(index.has_module({Address{0x2000}, Address{0x3000}}));
  EXPECT_EQ(index.unmapped_modules({piece(0x1000, 0x2000, 0, "/lib/a"),
                                    piece(0x2000, 0x3000, 0x1000, "/lib/a"),
                                    piece(0x3000, 0x4000, 0x2000, "/lib/a")}),
            std::vector<AddressRange>());
  EXPECT_EQ(index.unmapped_modules({piece(0x1000, 0x4000, 0, "/lib/b")}),
            std::vector<AddressRange>({{Address{0x1000}, Address{0x4000}}}));
}

TEST(FunctionIndex, forgets_the_end_of_a_module_where_there_is_something_else) {
  FunctionIndex index;
  index.add_module({{Address{0x1000}, Address{0x4000}}, true, {}, {"/lib/a", "", false, nullptr}});
  index.add({function(0x1100, 0x1200), function(0x3100, 0x3200)});
  const AddressRange gone{Address{0x2000}, Address{0x4000}};
  const std::vector<core::Mapping> mappings = {piece(0x1000, 0x2000, 0, "/lib/a"),
                                               piece(0x2000, 0x4000, 0, "/lib/a")};
  EXPECT_EQ(index.unmapped_modules(mappings), std::vector<AddressRange>({gone}));
  index.remove_module(gone);
  EXPECT_EQ(index.unmapped_modules(mappings), std::vector<AddressRange>());
  EXPECT_NE(index.at(Address{0x1100}), nullptr);
  EXPECT_EQ(index.at(Address{0x3100}), nullptr);
  EXPECT_FALSE(index.has_module({Address{0x3000}, Address{0x4000}}));
}

}  // namespace
}  // namespace sp::supervisor
