#include "symbols/go_functions.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "symbols/instrumentation_candidates.h"
#include "symbols/named_functions.h"
#include "symbols/symbol_table.h"
#include "unit/symbols/elf_builder.h"

namespace {

using sp::symbols::ElfSections;
using sp::symbols::go_functions;
using sp::test::append;
using sp::test::Bytes;
using sp::test::ElfBuilder;

constexpr std::uint64_t kText = 0x401000;
constexpr std::uint64_t kTable = 0x500000;

enum class Go { v1_2, v1_16, v1_18, v1_20 };

/// The text begins with main.main, 0x30 bytes with 0x10 of padding, then main.work, 0x20 bytes.
Bytes code() {
  Bytes bytes(0x60, std::byte{0x90});
  std::fill(bytes.begin() + 0x30, bytes.begin() + 0x40, std::byte{0xcc});
  return bytes;
}

Bytes header_of(Go version) {
  Bytes table;
  append(table, version == Go::v1_2    ? 0xfffffffbU
                : version == Go::v1_16 ? 0xfffffffaU
                : version == Go::v1_18 ? 0xfffffff0U
                                       : 0xfffffff1U);
  for (const unsigned byte : {0U, 0U, 1U, 8U}) {
    table.push_back(static_cast<std::byte>(byte));
  }
  append(table, std::uint64_t{2});  // functions
  return table;
}

void append_names(Bytes& table) {
  const Bytes names = sp::test::bytes_of(std::string_view("main.main\0main.work\0\0\0\0\0", 24));
  table.insert(table.end(), names.begin(), names.end());
}

/// Two entries, the end and two records; a record begins with its address and its name's offset.
template <typename Number>
void append_functions(Bytes& table, Number text, std::size_t base, unsigned names) {
  const std::size_t begin = table.size();
  const auto records = static_cast<Number>(begin - base + 5 * sizeof(Number));
  append(table, text);
  append(table, records);
  append(table, static_cast<Number>(text + 0x40));
  append(table, static_cast<Number>(records + sizeof(Number) + 4));
  append(table, static_cast<Number>(text + 0x60));
  append(table, text);
  append(table, names);
  append(table, static_cast<Number>(text + 0x40));
  append(table, names + 10);
}

Bytes table_of(Go version, std::uint64_t text) {
  Bytes table = header_of(version);
  if (version == Go::v1_2) {
    // Names follow what refers to them: 5 words, two records of 12 bytes.
    append_functions<std::uint64_t>(table, text, 0, 16 + 40 + 24);
    append_names(table);
    return table;
  }
  append(table, std::uint64_t{0});  // files
  const bool is_new = version != Go::v1_16;
  if (is_new) {
    append(table, text);
  }
  const std::uint64_t names = table.size() + 5 * sizeof(std::uint64_t);
  append(table, names);
  for (int i = 0; i < 3; ++i) {
    append(table, std::uint64_t{0});  // compilation units, files, pcs
  }
  append(table, names + 24);
  append_names(table);
  if (is_new) {
    append_functions<std::uint32_t>(table, 0, table.size(), 0);
  } else {
    append_functions<std::uint64_t>(table, text, table.size(), 0);
  }
  return table;
}

ElfBuilder program(Bytes table, std::string section = ".gopclntab") {
  ElfBuilder builder;
  builder.add_code(".text", kText, code());
  builder.add({std::move(section), SHT_PROGBITS, SHF_ALLOC, kTable, std::move(table)});
  return builder;
}

using Named = std::vector<std::string>;

/// "NAME BEGIN-END", less the text's begin.
Named functions_of(ElfBuilder builder) {
  Named found;
  const ElfSections file(builder.build_file());
  for (const auto& function : go_functions(file)) {
    found.push_back(std::string(function.name) + " " + std::to_string(function.begin - kText) +
                    "-" + std::to_string(function.end - kText));
  }
  return found;
}

const Named kBoth{"main.main 0-48", "main.work 64-96"};

TEST(GoFunctions, are_read_of_every_version) {
  for (const Go version : {Go::v1_2, Go::v1_16, Go::v1_18, Go::v1_20}) {
    EXPECT_EQ(functions_of(program(table_of(version, kText))), kBoth) << static_cast<int>(version);
  }
}

TEST(GoFunctions, of_a_file_that_is_mapped_anywhere_need_a_relocation) {
  ElfBuilder builder = program(table_of(Go::v1_20, 0), ".data.rel.ro.gopclntab");
  Bytes relocations;
  append(relocations, Elf64_Rela{kTable + 24, ELF64_R_INFO(0, R_X86_64_RELATIVE),
                                 static_cast<Elf64_Sxword>(kText)});
  builder.add({".rela.dyn", SHT_RELA, SHF_ALLOC, 0x300000, relocations, 0, 0, 24});
  EXPECT_EQ(functions_of(std::move(builder)), kBoth);
  EXPECT_EQ(functions_of(program(table_of(Go::v1_20, 0))), kBoth) << "from .text, without one";
}

TEST(GoFunctions, are_not_read_of_a_file_with_symbols_or_of_another_format) {
  ElfBuilder with_symbols = program(table_of(Go::v1_20, kText));
  with_symbols.add_symbol({"main.main", kText, 0x30, 1});
  EXPECT_EQ(functions_of(std::move(with_symbols)), Named{});
  Bytes other = table_of(Go::v1_20, kText);
  other[0] = std::byte{0x42};
  EXPECT_EQ(functions_of(program(other)), Named{});
  EXPECT_EQ(functions_of(program(Bytes(7))), Named{});
}

TEST(GoFunctions, are_symbols_and_candidates) {
  ElfBuilder builder = program(table_of(Go::v1_20, kText));
  const auto image = sp::core::ElfImage::parse(builder.build_file());
  ASSERT_TRUE(image);
  const std::vector<ElfSections> sources{ElfSections(*image)};
  const auto hit = sp::symbols::SymbolTable(sources).find(kText + 0x41);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->name, "main.work");
  ASSERT_EQ(sp::symbols::named_functions(sources).size(), 2U);
  const auto candidates = sp::symbols::find_candidates(**image, sources, {{"main.work"}});
  ASSERT_EQ(candidates.functions.size(), 1U);
  EXPECT_EQ(candidates.functions[0].begin, kText + 0x40);
  EXPECT_EQ(candidates.functions[0].end, kText + 0x60);
}

TEST(GoFunctions, of_damaged_tables_lie_within_the_code) {
  std::mt19937_64 random(1);
  for (const Go version : {Go::v1_2, Go::v1_16, Go::v1_18, Go::v1_20}) {
    const Bytes whole = table_of(version, kText);
    for (int round = 0; round < 500; ++round) {
      Bytes table = whole;
      for (int i = 0; i < 3; ++i) {
        table[8 + random() % (table.size() - 8)] = static_cast<std::byte>(random());
      }
      table.resize(8 + random() % (table.size() - 7));
      const ElfSections file(program(std::move(table)).build_file());
      for (const auto& function : go_functions(file)) {
        EXPECT_GE(function.begin, kText);
        EXPECT_LT(function.begin, function.end);
        EXPECT_LE(function.end, kText + 0x60);
      }
    }
  }
}

}  // namespace
