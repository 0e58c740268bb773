#include "symbols/symbol_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "unit/symbols/elf_builder.h"

namespace {

using sp::symbols::ElfSections;
using sp::symbols::SymbolTable;
using sp::test::ElfBuilder;

SymbolTable table_of(ElfBuilder& builder) {
  return SymbolTable({ElfSections(builder.build_file())});
}

std::string name_at(const SymbolTable& table, std::uint64_t address) {
  const auto hit = table.find(address);
  return hit ? std::string(hit->name) : "";
}

TEST(SymbolTable, never_names_a_byte_past_the_end_of_a_symbol) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"first", 0x1000, 0x10, text});
  builder.add_symbol({"second", 0x1020, 0x10, text});
  const SymbolTable table = table_of(builder);
  EXPECT_EQ(name_at(table, 0xFFF), "");
  EXPECT_EQ(name_at(table, 0x1000), "first");
  EXPECT_EQ(name_at(table, 0x100F), "first");
  EXPECT_EQ(name_at(table, 0x1010), "");
  EXPECT_EQ(name_at(table, 0x1020), "second");
  EXPECT_EQ(name_at(table, 0x1030), "");
}

TEST(SymbolTable, prefers_the_innermost_of_nested_symbols) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"outer", 0x1000, 0x80, text});
  builder.add_symbol({"inner", 0x1020, 0x10, text});
  const SymbolTable table = table_of(builder);
  EXPECT_EQ(name_at(table, 0x101F), "outer");
  EXPECT_EQ(name_at(table, 0x1020), "inner");
  EXPECT_EQ(name_at(table, 0x1030), "outer");
  EXPECT_EQ(table.find(0x1030)->begin, 0x1000U);
}

TEST(SymbolTable, lets_a_symbol_without_size_reach_to_the_next_symbol_or_its_sections_end) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x40);
  builder.add_code(".fini", 0x1040, 0x10);
  builder.add_symbol({"_start", 0x1000, 0, text, STT_NOTYPE});
  builder.add_symbol({"sized", 0x1010, 0x10, text});
  builder.add_symbol({"label_in_sized", 0x1018, 0, text, STT_NOTYPE});
  builder.add_symbol({"last", 0x1030, 0, text, STT_NOTYPE});
  const SymbolTable table = table_of(builder);
  EXPECT_EQ(name_at(table, 0x100F), "_start");
  EXPECT_EQ(name_at(table, 0x1018), "sized");
  EXPECT_EQ(name_at(table, 0x1020), "");
  EXPECT_EQ(name_at(table, 0x103F), "last");
  EXPECT_EQ(name_at(table, 0x1040), "");
  EXPECT_FALSE(table.find(0x1000)->sized);
}

TEST(SymbolTable, leaves_out_what_is_not_a_function) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x40);
  const auto data = builder.add({".data", SHT_PROGBITS, SHF_ALLOC, 0x2000, sp::test::Bytes(64)});
  builder.add_symbol({"object", 0x1000, 8, text, STT_OBJECT});
  builder.add_symbol({"file.c", 0x1000, 8, text, STT_FILE});
  builder.add_symbol({".text", 0x1000, 0x40, text, STT_SECTION});
  builder.add_symbol({"thread_local", 0x1000, 8, text, STT_TLS});
  builder.add_symbol({"$x", 0x1000, 0, text, STT_NOTYPE, STB_LOCAL});
  builder.add_symbol({"$d.12", 0x1008, 0, text, STT_NOTYPE, STB_LOCAL});
  builder.add_symbol({".L17", 0x1010, 0, text, STT_NOTYPE, STB_LOCAL});
  builder.add_symbol({"imported", 0x1000, 8, SHN_UNDEF});
  builder.add_symbol({"absolute", 0x1000, 8, SHN_ABS});
  builder.add_symbol({"_end", 0x2000, 0, data, STT_NOTYPE});
  const SymbolTable table = table_of(builder);
  EXPECT_EQ(table.size(), 0U);
}

TEST(SymbolTable, names_ifunc_resolvers) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x40);
  builder.add_symbol({"memcpy@@GLIBC_2.14", 0x1000, 8, text, STT_GNU_IFUNC});
  EXPECT_EQ(name_at(table_of(builder), 0x1004), "memcpy@@GLIBC_2.14");
}

TEST(SymbolTable, chooses_the_alias_that_a_reader_knows) {
  struct Case {
    std::string wanted;
    std::vector<ElfBuilder::Symbol> symbols;
  };
  const Case cases[] = {
      {"malloc", {{"__libc_malloc"}, {"malloc"}, {"__GI___libc_malloc"}}},
      {"puts", {{"_IO_puts"}, {"puts", 0, 0, 0, STT_FUNC, STB_WEAK}}},
      {"__strtold_internal", {{"__GI___strtold_internal"}, {"__strtold_internal"}}},
      {"shown", {{"local", 0, 0, 0, STT_FUNC, STB_LOCAL}, {"shown"}}},
      {"function", {{"label", 0, 0, 0, STT_NOTYPE}, {"function", 0, 0, 0, STT_FUNC, STB_LOCAL}}},
      {"short", {{"shorter"}, {"short"}}},
      {"abc", {{"abd"}, {"abc"}}},
      {"_ZN1aC1Ev", {{"_ZN1aC2Ev"}, {"_ZN1aC1Ev"}}},
  };
  std::mt19937 random(3);
  for (const Case& one : cases) {
    for (int round = 0; round < 5; ++round) {
      ElfBuilder builder;
      const auto text = builder.add_code(".text", 0x1000, 0x40);
      auto symbols = one.symbols;
      std::shuffle(symbols.begin(), symbols.end(), random);
      for (auto& symbol : symbols) {
        symbol.value = 0x1000;
        symbol.size = 0x10;
        symbol.section = text;
        builder.add_symbol(symbol);
      }
      EXPECT_EQ(name_at(table_of(builder), 0x1003), one.wanted);
    }
  }
}

TEST(SymbolTable, joins_the_dynamic_and_the_full_table_of_several_files) {
  ElfBuilder stripped;
  const auto text = stripped.add_code(".text", 0x1000, 0x100);
  stripped.add_symbol({"exported", 0x1000, 0x10, text});
  stripped.flush_symbols(true);
  ElfBuilder debug;
  const auto empty = debug.add({".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, {}, 0x100});
  debug.add_symbol({"internal", 0x1010, 0x10, empty, STT_FUNC, STB_LOCAL});
  debug.add_symbol({"unsized", 0x1080, 0, empty, STT_NOTYPE});
  const SymbolTable table({ElfSections(stripped.build_file()), ElfSections(debug.build_file())});
  EXPECT_EQ(name_at(table, 0x1001), "exported");
  EXPECT_EQ(name_at(table, 0x1011), "internal");
  EXPECT_EQ(name_at(table, 0x10FF), "unsized");
}

// A slow and obvious implementation for comparison.
TEST(SymbolTable, agrees_with_a_search_of_all_symbols) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    ElfBuilder builder;
    const auto text = builder.add_code(".text", 0x1000, 0x400);
    std::vector<ElfBuilder::Symbol> symbols;
    for (int i = 0; i < 60; ++i) {
      symbols.push_back(
          {"s" + std::to_string(100 + i), 0x1000 + random() % 0x400, 1 + random() % 0x60, text});
      builder.add_symbol(symbols.back());
    }
    const SymbolTable table = table_of(builder);
    for (std::uint64_t address = 0xFF0; address < 0x1480; ++address) {
      const ElfBuilder::Symbol* best = nullptr;
      for (const auto& symbol : symbols) {
        const bool holds = symbol.value <= address && address < symbol.value + symbol.size;
        if (holds && (best == nullptr || symbol.value > best->value ||
                      (symbol.value == best->value && symbol.name < best->name))) {
          best = &symbol;
        }
      }
      ASSERT_EQ(name_at(table, address), best == nullptr ? "" : best->name) << address;
    }
  }
}

}  // namespace
