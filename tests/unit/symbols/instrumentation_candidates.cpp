#include "symbols/instrumentation_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elf_builder.h"
#include "scratch_folder.h"
#include "symbols/code_selection.h"
#include "symbols/fde_bounds.h"

namespace sp::symbols {
namespace {

using test::ElfBuilder;

core::InstrumentationCandidates plan_of(const std::shared_ptr<const core::ElfImage>& image,
                                        const CodeSelection& selection = {}) {
  return find_candidates(*image, {ElfSections(image)}, selection);
}

std::vector<CodeRange> ranges_of(const core::InstrumentationCandidates& plan) {
  std::vector<CodeRange> ranges;
  for (const core::CandidateFunction& function : plan.functions) {
    ranges.push_back({function.begin, function.end});
  }
  return ranges;
}

TEST(InstrumentationCandidates, takes_functions_from_symbols_in_code) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  const auto plt = builder.add_code(".plt", 0x2000, 0x40);
  builder.add_symbol({"second", 0x1040, 0x20, text});
  builder.add_symbol({"first", 0x1000, 0x30, text});
  builder.add_symbol({"alias", 0x1000, 0x30, text});
  builder.add_symbol({"unsized", 0x1070, 0, text});
  builder.add_symbol({"stub", 0x2000, 0x10, plt});
  builder.add_symbol({"data", 0x1080, 8, text, STT_OBJECT});
  builder.add_symbol({"resolver", 0x1090, 0x10, text, STT_GNU_IFUNC});
  EXPECT_EQ(ranges_of(plan_of(builder.build_image())),
            (std::vector<CodeRange>{
                {0x1000, 0x1030}, {0x1040, 0x1060}, {0x1070, 0x1090}, {0x1090, 0x10A0}}));
}

TEST(InstrumentationCandidates, splits_at_sized_symbols_only) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"whole", 0x1000, 0x80, text});
  builder.add_symbol({"part", 0x1020, 0x10, text});
  builder.add_symbol({"label", 0x1040, 0, text});
  EXPECT_EQ(ranges_of(plan_of(builder.build_image())),
            (std::vector<CodeRange>{{0x1000, 0x1020}, {0x1020, 0x1080}}));
}

TEST(InstrumentationCandidates, keeps_what_is_selected) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"_ZN2ns3fooEi", 0x1000, 0x10, text});
  builder.add_symbol({"bar", 0x1010, 0x10, text});
  const auto image = builder.build_image();
  const auto begins = [&](std::string wish) {
    std::vector<std::uint64_t> found;
    for (const auto& function : plan_of(image, {{std::move(wish)}}).functions) {
      found.push_back(function.begin);
    }
    return found;
  };
  EXPECT_EQ(begins("ns::foo"), std::vector<std::uint64_t>{0x1000});
  EXPECT_EQ(begins("ba?"), std::vector<std::uint64_t>{0x1010});
  EXPECT_EQ(begins("/foo|bar/"), (std::vector<std::uint64_t>{0x1000, 0x1010}));
  EXPECT_TRUE(begins("foo").empty());
}

TEST(InstrumentationCandidates, select_a_function_with_its_cold_parts) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"main", 0x1000, 0x10, text});
  builder.add_symbol({"main.coldStart", 0x1010, 0x10, text});
  builder.add_symbol({"main.cold", 0x1020, 0x10, text});
  builder.add_symbol({"main.cold.1", 0x1030, 0x10, text});
  const auto image = builder.build_image();
  std::vector<std::uint64_t> parts;
  for (const core::CandidateFunction& function : plan_of(image).functions) {
    if (function.is_part) {
      parts.push_back(function.begin);
    }
  }
  EXPECT_EQ(parts, (std::vector<std::uint64_t>{0x1020, 0x1030}));
  EXPECT_EQ(ranges_of(plan_of(image, {{"main"}})),
            (std::vector<CodeRange>{{0x1000, 0x1010}, {0x1020, 0x1030}, {0x1030, 0x1040}}));
  EXPECT_EQ(ranges_of(plan_of(image, {{"main.coldStart"}})),
            (std::vector<CodeRange>{{0x1010, 0x1020}}));
}

TEST(InstrumentationCandidates, of_a_program_with_exceptions_has_its_landing_pads) {
  const auto file = core::MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto image = core::ElfImage::parse(*file);
  ASSERT_TRUE(image);
  const auto plan = find_candidates(**image, {ElfSections(*image)});
  ASSERT_GT(plan.functions.size(), 1000U);
  std::size_t pads = 0;
  std::uint64_t end = 0;
  for (const core::CandidateFunction& function : plan.functions) {
    EXPECT_GE(function.begin, end);
    EXPECT_LT(function.begin, function.end);
    end = function.end;
    pads += function.landing_pads.size();
    for (const std::uint64_t pad : function.landing_pads) {
      EXPECT_TRUE(function.begin <= pad && pad < function.end);
    }
  }
  EXPECT_GT(pads, 100U);
}

TEST(InstrumentationCandidates,
     begin_a_function_one_byte_behind_the_unwind_entry_of_a_signal_frame) {
  using test::append;
  const auto plan_with = [](std::string_view augmentation) {
    test::Bytes frames;
    append(frames, std::uint32_t{16});  // CIE: length, id, version, augmentation
    append(frames, std::uint32_t{0});
    append(frames, std::uint8_t{1});
    for (const char letter : augmentation) {
      append(frames, letter);
    }
    for (const unsigned value : {0U, 1U, 0x78U, 16U, 1U, 0U}) {  // 'R': absolute
      append(frames, static_cast<std::uint8_t>(value));
    }
    frames.resize(20);
    append(frames, std::uint32_t{24});  // FDE: length, distance to the CIE, begin, size
    append(frames, std::uint32_t{24});
    append(frames, std::uint64_t{0x100F});
    append(frames, std::uint64_t{0x11});
    append(frames, std::uint32_t{0});
    append(frames, std::uint32_t{0});
    ElfBuilder builder;
    builder.add_code(".text", 0x1000, 0x100);
    builder.add({".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x3000, frames});
    return ranges_of(plan_of(builder.build_image()));
  };
  EXPECT_EQ(plan_with("zR"), (std::vector<CodeRange>{{0x100F, 0x1020}}));
  EXPECT_EQ(plan_with("zRS"), (std::vector<CodeRange>{{0x1010, 0x1020}}));
}

TEST(FunctionMatcher, knows_the_ways_to_write_a_name) {
  const auto matches = [](const std::string& wish, std::string_view symbol) {
    return FunctionMatcher({{wish}}).matches(symbol);
  };
  constexpr std::string_view kFoo = "_ZN2ns3fooEi";  // ns::foo(int)
  EXPECT_TRUE(matches("ns::foo", kFoo));
  EXPECT_TRUE(matches("ns::foo(int)", kFoo));
  EXPECT_TRUE(matches("_ZN2ns3fooEi", kFoo));
  EXPECT_TRUE(matches("ns::*", kFoo));
  EXPECT_TRUE(matches("/^ns::f.o\\(/", kFoo));
  EXPECT_FALSE(matches("foo", kFoo));
  EXPECT_FALSE(matches("ns::foo(char)", kFoo));
  constexpr std::string_view kTemplate = "_ZN2ns3maxIiEET_S1_S1_";  // int ns::max<int>(int, int)
  EXPECT_TRUE(matches("ns::max", kTemplate));
  EXPECT_TRUE(matches("ns::max<int>", kTemplate));
  EXPECT_TRUE(matches("int ns::max<int>(int, int)", kTemplate));
  EXPECT_TRUE(matches("Call::operator()", "_ZN4CallclEi"));
  EXPECT_TRUE(matches("main", "main"));
  EXPECT_TRUE(matches("ns::foo", "_ZN2ns3fooEi.cold"));
}

TEST(CodeSelection, refuses_what_is_no_expression) {
  EXPECT_TRUE(check_selection({{"a", "b*", "/c+/"}}));
  const auto bad = check_selection({{"/(/"}});
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message().find("/(/ is no expression"), std::string::npos);
  EXPECT_FALSE(check_selection({{""}}));
  EXPECT_FALSE(FunctionMatcher({{"/(/"}}).matches("("));
}

TEST(WantedModules, are_the_main_executable_unless_named) {
  EXPECT_TRUE(is_wanted_module({}, "/usr/bin/program", true));
  EXPECT_FALSE(is_wanted_module({}, "/usr/lib/libz.so.1", false));
  EXPECT_TRUE(is_wanted_module({"libz.so.1"}, "/usr/lib/libz.so.1", false));
  EXPECT_TRUE(is_wanted_module({"/usr/lib/libz.so.1"}, "/usr/lib/libz.so.1", false));
  EXPECT_TRUE(is_wanted_module({"libz.so.1"}, "/usr/lib/libz.so.1 (deleted)", false));
  EXPECT_FALSE(is_wanted_module({"libz.so.1"}, "/usr/bin/program", true));
  EXPECT_TRUE(is_wanted_module({"other", "all"}, "/usr/lib/libz.so.1", false));
  EXPECT_FALSE(is_wanted_module({"all"}, "[vdso]", false));
}

TEST(WantedModules, are_found_through_links) {
  const test::ScratchFolder folder;
  folder.write("libx.so.1.2", "x");
  std::filesystem::create_symlink("libx.so.1.2", folder.path() + "/libx.so.1");
  const std::string mapped = folder.path() + "/libx.so.1.2";
  EXPECT_TRUE(is_wanted_module({"libx.so.1"}, mapped, false));
  EXPECT_TRUE(is_wanted_module({folder.path() + "/libx.so.1"}, mapped, false));
  EXPECT_FALSE(is_wanted_module({"libx.so"}, mapped, false));
}

}  // namespace
}  // namespace sp::symbols
