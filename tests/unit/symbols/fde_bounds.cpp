#include "symbols/fde_bounds.h"

#include <gtest/gtest.h>

#include "unit/symbols/elf_builder.h"

namespace {

using sp::symbols::CodeRange;
using sp::symbols::ElfSections;
using sp::symbols::FdeBounds;
using sp::test::Bytes;
using sp::test::ElfBuilder;

constexpr std::uint64_t kFrames = 0x3000;
constexpr std::uint64_t kHeader = 0x4000;

/// .eh_frame as gcc writes it: one CIE ("zR", addresses relative to themselves in 4 bytes), then an
/// FDE for each range, then the end mark.
Bytes eh_frame(const std::vector<CodeRange>& ranges, std::vector<std::uint64_t>& fde_addresses) {
  Bytes out = sp::test::bytes_of({
      0x14, 0,    0,   0,    0, 0,    0,  0,  // length, CIE id
      1,    'z',  'R', 0,    1, 0x78, 16,     // version, augmentation, alignments, ra
      1,    0x1B,                             // its size; pcrel | sdata4
      0x0C, 7,    8,   0x90, 1, 0,    0,      // cfa = rsp + 8, ra at cfa - 8, nop
  });
  for (const CodeRange& range : ranges) {
    const std::uint64_t at = kFrames + out.size();
    fde_addresses.push_back(at);
    sp::test::append(out, std::uint32_t{0x10});
    sp::test::append(out, static_cast<std::uint32_t>(at + 4 - kFrames));
    sp::test::append(out, static_cast<std::uint32_t>(range.begin - (at + 8)));
    sp::test::append(out, static_cast<std::uint32_t>(range.end - range.begin));
    sp::test::append(out, std::uint32_t{0});
  }
  sp::test::append(out, std::uint32_t{0});
  return out;
}

ElfBuilder program(const std::vector<CodeRange>& ranges, bool with_header) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, 0x100);
  std::vector<std::uint64_t> fdes;
  builder.add({".eh_frame", SHT_PROGBITS, SHF_ALLOC, kFrames, eh_frame(ranges, fdes)});
  if (with_header) {
    Bytes header = sp::test::bytes_of({1, 0x1B, 0x03, 0x3B});
    sp::test::append(header, static_cast<std::uint32_t>(kFrames - (kHeader + 4)));
    sp::test::append(header, static_cast<std::uint32_t>(ranges.size()));
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      sp::test::append(header, static_cast<std::uint32_t>(ranges[i].begin - kHeader));
      sp::test::append(header, static_cast<std::uint32_t>(fdes[i] - kHeader));
    }
    builder.add({".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, kHeader, header});
  }
  return builder;
}

class FdeBoundsTest : public testing::TestWithParam<bool> {};

TEST_P(FdeBoundsTest, holds_exactly_the_functions_bytes) {
  ElfBuilder builder = program({{0x1000, 0x1010}, {0x1010, 0x1033}, {0x1080, 0x1100}}, GetParam());
  const auto image = builder.build_image();
  const FdeBounds bounds(image, ElfSections(image));
  EXPECT_EQ(bounds.find(0xFFF), std::nullopt);
  EXPECT_EQ(bounds.find(0x1000), (CodeRange{0x1000, 0x1010}));
  EXPECT_EQ(bounds.find(0x100F), (CodeRange{0x1000, 0x1010}));
  EXPECT_EQ(bounds.find(0x1032), (CodeRange{0x1010, 0x1033}));
  EXPECT_EQ(bounds.find(0x1033), std::nullopt);
  EXPECT_EQ(bounds.find(0x10FF), (CodeRange{0x1080, 0x1100}));
  EXPECT_EQ(bounds.find(0x1100), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSearchTable, FdeBoundsTest, testing::Bool());

TEST(FdeBounds, knows_nothing_of_a_file_without_unwind_tables) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, 0x100);
  const auto image = builder.build_image();
  EXPECT_EQ(FdeBounds(image, ElfSections(image)).find(0x1000), std::nullopt);
}

TEST(FdeBounds, survives_a_table_that_claims_too_much) {
  ElfBuilder builder = program({{0x1000, 0x1010}}, false);
  Bytes header = sp::test::bytes_of({1, 0x1B, 0x03, 0x3B, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF});
  builder.add({".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, kHeader, header});
  const auto image = builder.build_image();
  // The table is rejected, so .eh_frame itself is read.
  EXPECT_EQ(FdeBounds(image, ElfSections(image)).find(0x1004), (CodeRange{0x1000, 0x1010}));
}

}  // namespace
