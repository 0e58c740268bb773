#include "symbols/xray_map.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/symbols/elf_builder.h"

namespace {

using sp::core::Sled;
using sp::core::SledKind;
using sp::symbols::read_xray_map;
using sp::symbols::SledRun;
using sp::symbols::XrayMap;
using sp::test::Bytes;
using sp::test::ElfBuilder;

constexpr std::uint64_t kText = 0x1000;
constexpr std::uint64_t kMap = 0x4003;  // alignment 1
constexpr std::uint64_t kIndex = 0x6000;

/// An entry of a map as it stands in a file.
struct Entry {
  std::uint64_t sled = 0;  // ELF virtual addresses
  std::uint64_t function = 0;
  unsigned kind = 0;
  unsigned always = 0;
  unsigned version = 2;
};

/// The bytes of a map at kMap; versions 0 and 1 hold zeros where `zeros`.
Bytes map_of(const std::vector<Entry>& entries, bool zeros = false) {
  Bytes bytes;
  for (const Entry& entry : entries) {
    const std::uint64_t at = kMap + bytes.size();
    const bool relative = entry.version >= 2;
    const std::uint64_t stored = zeros ? 0 : entry.sled;
    sp::test::append(bytes, relative ? entry.sled - at : stored);
    sp::test::append(bytes, relative ? entry.function - (at + 8) : zeros ? 0 : entry.function);
    for (const unsigned byte : {entry.kind, entry.always, entry.version}) {
      bytes.push_back(static_cast<std::byte>(byte));
    }
    bytes.resize(bytes.size() + 13);
  }
  return bytes;
}

/// A file with that map, and 0x400 bytes of code at kText.
ElfBuilder file_with(Bytes map, std::uint16_t machine = EM_X86_64) {
  ElfBuilder builder(machine);
  builder.add_code(".text", kText, 0x400);
  builder.add({"xray_instr_map", SHT_PROGBITS, SHF_ALLOC, kMap, std::move(map)});
  return builder;
}

XrayMap good(ElfBuilder builder) {
  const auto map = read_xray_map(builder.build_image());
  if (!map || !*map) {
    ADD_FAILURE() << (map ? "no map" : map.error().message());
    return {};
  }
  return **map;
}

std::string refusal(ElfBuilder builder) {
  const auto map = read_xray_map(builder.build_image());
  return map ? "accepted" : map.error().message();
}

const std::vector<Entry> kThree = {
    {0x1000, 0x1000, 0, 0}, {0x1030, 0x1000, 1, 0}, {0x1040, 0x1040, 3, 1}};

std::vector<Entry> of_version(std::vector<Entry> entries, unsigned version) {
  for (Entry& entry : entries) {
    entry.version = version;
  }
  return entries;
}

std::vector<Sled> sleds_of(std::uint8_t version) {
  return {{1, SledKind::entry, version, false, 0x1000, 0x1000},
          {1, SledKind::exit, version, false, 0x1030, 0x1000},
          {2, SledKind::entry_with_argument, version, true, 0x1040, 0x1040}};
}

TEST(XrayMap, of_relative_and_of_absolute_entries_has_the_same_addresses) {
  for (std::uint8_t version = 0; version < 4; ++version) {
    const XrayMap map = good(file_with(map_of(of_version(kThree, version))));
    EXPECT_EQ(map.sleds, sleds_of(version));
    EXPECT_EQ(map.functions, 2U);
    EXPECT_EQ(map.discarded, 0U);
  }
}

void add_relocation(Bytes& relocations, std::uint64_t at, std::uint64_t info,
                    std::uint64_t addend) {
  sp::test::append(relocations, Elf64_Rela{at, info, static_cast<Elf64_Sxword>(addend)});
}

TEST(XrayMap, of_absolute_entries_takes_its_addresses_from_relocations) {
  for (const bool is_arm : {false, true}) {
    const auto entries = of_version(kThree, 1);
    ElfBuilder builder =
        file_with(map_of(entries, true), is_arm ? std::uint16_t{EM_AARCH64} : EM_X86_64);
    const auto text = std::uint16_t{1};
    builder.add_symbol({"second", 0x1040, 0x40, text});
    const auto symbols = builder.flush_symbols(true);
    Bytes relocations;
    const std::uint64_t relative = is_arm ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
    const std::uint64_t absolute = is_arm ? R_AARCH64_ABS64 : R_X86_64_64;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      add_relocation(relocations, kMap + i * 32, relative, entries[i].sled);
      if (i < 2) {
        add_relocation(relocations, kMap + i * 32 + 8, relative, entries[i].function);
      } else {  // a function that others may replace, through its symbol
        add_relocation(relocations, kMap + i * 32 + 8, ELF64_R_INFO(1U, absolute), 0);
      }
    }
    builder.add({".rela.dyn", SHT_RELA, SHF_ALLOC, 0x300, relocations, 0, symbols, 24});
    EXPECT_EQ(good(std::move(builder)).sleds, sleds_of(1));
  }
}

TEST(XrayMap, numbers_runs_of_equal_functions) {
  const XrayMap map = good(
      file_with(map_of({{0x1000, 0x1000}, {0x1040, 0x1040}, {0x1050, 0x1000}, {0x1060, 0x1000}})));
  std::vector<std::uint32_t> ids;
  for (const Sled& sled : map.sleds) {
    ids.push_back(sled.function_id);
  }
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{1, 2, 3, 3}));
}

TEST(XrayMap, counts_discarded_functions_which_have_no_id) {
  const XrayMap map = good(file_with(map_of({{0, 0, 0, 0, 2},
                                             {0x1000, 0x1000},
                                             {0, 0, 0, 0, 0},
                                             {0, 0, 1, 0, 0},
                                             {0x1000, 0x1000},
                                             {0x1040, 0x1040}})));
  EXPECT_EQ(map.discarded, 3U);
  EXPECT_EQ(map.functions, 3U);
  ASSERT_EQ(map.sleds.size(), 3U);
  EXPECT_EQ(map.sleds[1].function_id, 2U);
  EXPECT_EQ(map.sleds[2].function_id, 3U);
}

TEST(XrayMap, knows_every_kind) {
  std::vector<Entry> entries;
  for (unsigned kind = 0; kind < sp::core::kSledKinds; ++kind) {
    entries.push_back({0x1000 + kind * 0x20, 0x1000, kind});
  }
  const XrayMap map = good(file_with(map_of(entries)));
  ASSERT_EQ(map.sleds.size(), sp::core::kSledKinds);
  EXPECT_EQ(map.sleds[4].kind, SledKind::custom_event);
  EXPECT_EQ(map.sleds[5].kind, SledKind::typed_event);
}

TEST(XrayMap, is_refused_with_the_entry_that_is_wrong) {
  auto entries = kThree;
  entries[1].sled = 0x9000;
  EXPECT_EQ(refusal(file_with(map_of(entries))),
            "entry 2 of 3 in xray_instr_map has its sled at 0x9000, outside of the executable "
            "segments: the file is damaged");
  entries = kThree;
  entries[2].function = kMap;
  EXPECT_EQ(refusal(file_with(map_of(entries))),
            "entry 3 of 3 in xray_instr_map has its function at 0x4003, outside of the executable "
            "segments: the file is damaged");
  entries = kThree;
  entries[0].kind = 6;
  EXPECT_EQ(refusal(file_with(map_of(entries))),
            "entry 1 of 3 in xray_instr_map has the unknown kind 6: the file is damaged");
}

TEST(XrayMap, is_refused_if_its_size_is_wrong_or_its_cpu_unknown) {
  Bytes bytes = map_of(kThree);
  bytes.pop_back();
  EXPECT_EQ(refusal(file_with(bytes)),
            "xray_instr_map has 95 bytes, no multiple of 32: the file is damaged");
  ElfBuilder cut;
  cut.add_code(".text", kText, 0x400);
  cut.add({"xray_instr_map", SHT_PROGBITS, SHF_ALLOC, kMap, map_of(kThree), 1U << 20U});
  EXPECT_EQ(refusal(std::move(cut)), "xray_instr_map is cut off: the file is damaged");
  EXPECT_NE(refusal(file_with(map_of(kThree), EM_RISCV)).find("for CPU 243 is not known"),
            std::string::npos);
}

TEST(XrayMap, is_nothing_where_there_is_none) {
  ElfBuilder builder;
  builder.add_code(".text", kText, 0x400);
  const auto none = read_xray_map(builder.build_image());
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->has_value());
  ElfBuilder debug;
  debug.add_code(".text", kText, 0x400);
  debug.add({"xray_instr_map", SHT_NOBITS, SHF_ALLOC, kMap, {}, 96});
  const auto separate = read_xray_map(debug.build_image());
  EXPECT_TRUE(separate.has_value() && !separate->has_value());
}

enum class Layout { absolute, relative_begin, counted };

Bytes index_of(const std::vector<SledRun>& runs, Layout layout) {
  Bytes bytes;
  for (const SledRun& run : runs) {
    const std::uint64_t at = kIndex + bytes.size();
    const std::uint64_t begin = kMap + run.begin * 32;
    sp::test::append(bytes, layout == Layout::absolute ? begin : begin - at);
    sp::test::append(bytes, layout == Layout::counted ? run.end - run.begin : kMap + run.end * 32);
  }
  return bytes;
}

std::string difference(const std::vector<SledRun>& runs, Layout layout) {
  ElfBuilder builder = file_with(map_of(kThree));
  const std::uint64_t flags = layout == Layout::counted ? SHF_ALLOC : SHF_ALLOC | SHF_WRITE;
  builder.add({"xray_fn_idx", SHT_PROGBITS, flags, kIndex, index_of(runs, layout)});
  return good(std::move(builder)).index_difference;
}

TEST(XrayIndex, agrees_with_the_map_in_each_of_its_layouts) {
  for (const Layout layout : {Layout::absolute, Layout::relative_begin, Layout::counted}) {
    EXPECT_EQ(difference({{0, 2}, {2, 3}}, layout), "");
  }
}

TEST(XrayIndex, that_differs_is_told_and_the_map_is_used) {
  for (const Layout layout : {Layout::absolute, Layout::relative_begin, Layout::counted}) {
    EXPECT_EQ(difference({{0, 2}, {2, 4}}, layout),
              "xray_fn_idx differs from xray_instr_map at function 2; the map is used");
    EXPECT_EQ(difference({{0, 3}}, layout),
              "xray_fn_idx has 1 functions, xray_instr_map has 2; the map is used");
  }
}

}  // namespace
