#include "symbols/left_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "unit/symbols/elf_builder.h"
#include "unit/symbols/left_fixtures.h"

namespace {

using sp::symbols::find_left_places;
using sp::symbols::LeftPlaces;
using sp::test::Bytes;
using sp::test::ElfBuilder;

constexpr std::uint64_t kText = 0x1000;

LeftPlaces places_of(const std::shared_ptr<const sp::core::ElfImage>& image) {
  const auto places = image != nullptr ? find_left_places(image) : sp::core::fail("no such file");
  EXPECT_TRUE(places.has_value()) << places.error().message();
  return places.value_or(LeftPlaces{});
}

TEST(LeftFixtures, have_the_places_of_their_options) {
  std::size_t files = 0;
  for (const std::string& name : sp::test::left_fixtures("")) {
    const LeftPlaces places = places_of(sp::test::left_fixture(name));
    const bool is_library = name.ends_with("-shared");
    const bool is_recorded = name.starts_with("fentry_");
    EXPECT_TRUE(places.any()) << name;
    EXPECT_EQ(places.has_xray, name.starts_with("xray-")) << name;
    EXPECT_EQ(places.patchable.size(), name.starts_with("patchable") ? (is_library ? 3U : 4U) : 0U)
        << name;
    EXPECT_EQ(places.recorded_calls.size(), is_recorded ? 3U : 0U) << name;
    EXPECT_EQ(places.calls_mcount, name.starts_with("mcount")) << name;
    EXPECT_EQ(places.calls_fentry, name.starts_with("fentry") && !name.starts_with("fentry_nops"))
        << name;
    EXPECT_EQ(places.calls_cyg, name.starts_with("cyg")) << name;
    ++files;
  }
  EXPECT_GT(files, 80U);
}

// -fpatchable-function-entry=5,2: the symbol stands 2 NOPs behind the place; RELA, RELR and no
// relocations at all.
TEST(LeftFixtures, have_patchable_places_where_the_first_nop_stands) {
  for (const std::string& name : sp::test::left_fixtures("patchable")) {
    const auto image = sp::test::left_fixture(name);
    const bool is_arm = name.find("aarch64") != std::string::npos;
    for (const std::uint64_t place : places_of(image).patchable) {
      const auto code = image->bytes_at(place);
      ASSERT_GE(code.size(), 4U) << name;
      const auto first = std::to_integer<unsigned>(code[0]);
      if (is_arm) {
        EXPECT_EQ(first, 0x1FU) << name;  // nop
      } else {
        EXPECT_TRUE(first == 0x90U || first == 0x66U || first == 0x0FU) << name << ": " << first;
      }
    }
  }
}

TEST(LeftFixtures, have_recorded_calls_where_the_call_stands) {
  for (const std::string& name : sp::test::left_fixtures("fentry_")) {
    const auto image = sp::test::left_fixture(name);
    for (const std::uint64_t place : places_of(image).recorded_calls) {
      const auto code = image->bytes_at(place);
      ASSERT_GE(code.size(), 6U) << name;
      const auto first = std::to_integer<unsigned>(code[0]);
      EXPECT_TRUE(first == 0xE8U || first == 0xFFU || first == 0x0FU) << name << ": " << first;
    }
  }
}

ElfBuilder file_with(const char* section, const std::vector<std::uint64_t>& addresses) {
  ElfBuilder builder;
  builder.add_code(".text", kText, 0x400);
  Bytes bytes;
  for (const std::uint64_t address : addresses) {
    sp::test::append(bytes, address);
  }
  builder.add({section, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x5000, std::move(bytes)});
  return builder;
}

TEST(LeftPlaces, skip_zeros_and_read_every_section_of_the_name) {
  ElfBuilder builder = file_with("__patchable_function_entries", {0x1000, 0, 0x1010});
  Bytes more;
  sp::test::append(more, std::uint64_t{0x1020});
  builder.add({"__patchable_function_entries", SHT_PROGBITS, SHF_ALLOC, 0x6000, more});
  EXPECT_EQ(places_of(builder.build_image()).patchable,
            (std::vector<std::uint64_t>{0x1000, 0x1010, 0x1020}));
}

TEST(LeftPlaces, are_refused_outside_of_code_and_if_they_are_cut_off) {
  for (const char* const section : {"__patchable_function_entries", "__mcount_loc"}) {
    const auto outside = find_left_places(file_with(section, {0x1000, 0x5000}).build_image());
    ASSERT_FALSE(outside.has_value());
    EXPECT_EQ(outside.error().message(),
              "entry 2 of 2 in " + std::string(section) +
                  " is 0x5000, outside of the executable segments: the file is damaged");
    ElfBuilder builder;
    builder.add_code(".text", kText, 0x400);
    builder.add({section, SHT_PROGBITS, SHF_ALLOC, 0x5000, Bytes(12)});
    const auto cut = find_left_places(builder.build_image());
    ASSERT_FALSE(cut.has_value());
    EXPECT_EQ(cut.error().message(), std::string(section) + " is cut off: the file is damaged");
  }
}

/// A library that defines _mcount, as libc does; its code calls it, or not.
ElfBuilder library(std::uint16_t machine, Bytes code) {
  ElfBuilder builder(machine);
  const auto text = builder.add_code(".text", kText, std::move(code));
  builder.add_symbol({"_mcount@@GLIBC_2.2.5", kText + 0x10, 1, text});
  return builder;
}

TEST(LeftPlaces, of_a_file_that_defines_a_hook_are_its_calls) {
  Bytes code(32, std::byte{0x90});
  EXPECT_FALSE(places_of(library(EM_X86_64, code).build_image()).calls_mcount);
  const Bytes call = sp::test::bytes_of({0xE8, 0x08, 0, 0, 0});  // at 0x1003
  std::copy(call.begin(), call.end(), code.begin() + 3);
  EXPECT_TRUE(places_of(library(EM_X86_64, code).build_image()).calls_mcount);
  Bytes arm(32);
  EXPECT_FALSE(places_of(library(EM_AARCH64, arm).build_image()).calls_mcount);
  const Bytes branch = sp::test::bytes_of({0xFF, 0xFF, 0xFF, 0x97});  // bl -4, at 0x1014
  std::copy(branch.begin(), branch.end(), arm.begin() + 0x14);
  EXPECT_TRUE(places_of(library(EM_AARCH64, arm).build_image()).calls_mcount);
}

TEST(LeftPlaces, of_damaged_files_are_read_or_refused) {
  std::mt19937_64 random(43);
  for (const std::string name : {"patchable-gcc12-x86_64-pie", "mcount-gcc12-x86_64-static"}) {
    sp::test::damage_fixture(name, random,
                             [](const auto& image, [[maybe_unused]] std::size_t size) {
                               const auto places = find_left_places(image);
                               EXPECT_TRUE(!places || places->patchable.size() <= size);
                             });
  }
}

}  // namespace
