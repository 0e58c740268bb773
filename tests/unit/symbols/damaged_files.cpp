#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "symbols/elf_sections.h"
#include "symbols/symbolizer.h"
#include "unit/symbols/elf_builder.h"

namespace {

using sp::core::ElfImage;
using sp::core::MappedFile;
using sp::core::Module;
using sp::core::ModuleId;
using sp::core::ModuleKind;
using sp::symbols::ElfSections;
using sp::symbols::Section;
using sp::symbols::Symbolizer;
using sp::test::Bytes;

constexpr ModuleId kId{1};

/// Symbolizes some addresses of the file. It only has to return.
void name_some(Bytes bytes, std::mt19937_64& random) {
  const auto image = ElfImage::parse(MappedFile::copy(std::move(bytes)));
  if (!image) {
    return;
  }
  Module module;
  module.id = kId;
  module.kind = ModuleKind::file;
  module.path = "/nowhere/prog";
  module.image = *image;
  Symbolizer symbolizer({});
  symbolizer.add_module(module);
  std::vector<std::uint64_t> addresses{0, ~std::uint64_t{0}, random()};
  for (const auto& segment : (*image)->segments()) {
    for (int i = 0; segment.executable && i < 12; ++i) {
      addresses.push_back(segment.address +
                          random() % std::max<std::uint64_t>(segment.file_size, 1));
    }
  }
  for (const std::uint64_t address : addresses) {
    EXPECT_FALSE(symbolizer.name({kId, address}, false).empty());
  }
}

/// A small but complete program: the test's own sections without the large ones.
Bytes small_program() {
  sp::test::ElfBuilder builder;
  builder.set_build_id("\x01\x02\x03\x04\x05\x06\x07\x08");
  const auto text = builder.add_code(".text", 0x1000, 0x400);
  builder.add_symbol({"puts", 0, 0, SHN_UNDEF});
  const auto dynamic = builder.flush_symbols(true);
  Bytes relocations;
  sp::test::append(relocations, Elf64_Rela{0x4018, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0});
  builder.add({".rela.plt", SHT_RELA, SHF_ALLOC, 0x600, relocations, 0, dynamic, 24});
  builder.add_code(".plt", 0x2000, sp::test::bytes_of({0xFF, 0x25, 0x12, 0x20, 0, 0}));
  for (unsigned i = 0; i < 40; ++i) {
    builder.add_symbol({"_ZN3foo3barE" + std::string(1, static_cast<char>('a' + i % 26)),
                        0x1000 + i * 16, i % 3 == 0 ? 0U : 24U, text});
  }
  return builder.build();
}

std::byte nasty(std::mt19937_64& random) {
  constexpr unsigned kValues[] = {0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF};
  const std::uint64_t pick = random() % 12;
  return static_cast<std::byte>(pick < std::size(kValues) ? kValues[pick] : random() % 256);
}

TEST(DamagedFiles, that_are_small_are_survived_wherever_they_are_damaged) {
  const Bytes good = small_program();
  std::mt19937_64 random(77);
  for (int i = 0; i < 1500; ++i) {
    Bytes bad = good;
    if (i % 4 == 0) {
      bad.resize(random() % bad.size());
    }
    for (std::uint64_t k = random() % 12; k > 0 && !bad.empty(); --k) {
      bad[random() % bad.size()] = nasty(random);
    }
    name_some(std::move(bad), random);
  }
}

TEST(DamagedFiles, that_are_cut_at_every_length_are_survived) {
  const Bytes good = small_program();
  std::mt19937_64 random(78);
  for (std::size_t size = 0; size < good.size(); size += 7) {
    name_some(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)), random);
  }
}

// The test program itself is a real one with all the DWARF that the compiler writes.
TEST(DamagedFiles, with_damaged_dwarf_and_tables_are_survived) {
  const auto file = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file.has_value());
  const ElfSections sections(*file);
  std::vector<Section> targets;
  for (const Section& section : sections.all()) {
    const bool is_target = section.name.starts_with(".debug_") || section.name == ".symtab" ||
                           section.name.starts_with(".eh_frame");
    if (is_target && !sections.bytes(section).empty()) {
      targets.push_back(section);
    }
  }
  ASSERT_FALSE(targets.empty());
  const auto bytes = (*file)->bytes();
  std::mt19937_64 random(79);
  for (int i = 0; i < 8; ++i) {
    Bytes bad(bytes.begin(), bytes.end());
    for (int k = 0; k < 4000; ++k) {
      const Section& section = targets[random() % targets.size()];
      bad[section.offset + random() % section.size] = nasty(random);
    }
    name_some(std::move(bad), random);
  }
}

}  // namespace
