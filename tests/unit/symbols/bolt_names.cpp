#include "symbols/bolt_names.h"

#include <gtest/gtest.h>

#include "unit/symbols/elf_builder.h"

namespace {

using sp::symbols::bolt_functions;
using sp::symbols::BoltFunction;
using sp::symbols::ElfSections;
using sp::test::ElfBuilder;

std::vector<std::string> names(const std::vector<BoltFunction>& functions) {
  std::vector<std::string> found;
  for (const BoltFunction& function : functions) {
    found.push_back(function.name);
  }
  return found;
}

using Names = std::vector<std::string>;

TEST(BoltNames, have_the_file_and_a_number_of_local_functions) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  const auto data = builder.add({".data", SHT_PROGBITS, SHF_ALLOC, 0x800, sp::test::Bytes(64)});
  builder.add_symbol({"early", 0x1080, 0x10, text, STT_FUNC, STB_LOCAL});
  builder.add_symbol({"a.c", 0, 0, SHN_ABS, STT_FILE, STB_LOCAL});
  builder.add_symbol({"parse", 0x1040, 0x10, text, STT_FUNC, STB_LOCAL});
  builder.add_symbol({"count", 0x800, 8, data, STT_OBJECT, STB_LOCAL});
  builder.add_symbol({"count", 0x1060, 0x10, text, STT_FUNC, STB_LOCAL});
  builder.add_symbol({"ld-temp.o", 0, 0, SHN_ABS, STT_FILE, STB_LOCAL});
  builder.add_symbol({"kept", 0x1070, 0x10, text, STT_FUNC, STB_LOCAL});
  builder.add_symbol({"a.c", 0, 0, SHN_ABS, STT_FILE, STB_LOCAL});
  builder.add_symbol({"parse", 0x1020, 0x10, text, STT_FUNC, STB_LOCAL});
  builder.add_symbol({"main", 0x1000, 0x20, text});
  const auto functions = bolt_functions(ElfSections(builder.build_file()));
  EXPECT_EQ(names(functions),
            (Names{"main", "parse/a.c/1", "parse/a.c/2", "count/a.c/1", "kept/a.c/1", "early/1"}));
  EXPECT_FALSE(functions[0].local);
  EXPECT_TRUE(functions[1].local);
  EXPECT_EQ(functions[1].begin, 0x1020U);
  EXPECT_EQ(functions[1].end, 0x1030U);
}

TEST(BoltNames, take_the_global_one_of_several_and_nothing_within_a_function) {
  ElfBuilder builder;
  const auto text = builder.add_code(".text", 0x1000, 0x100);
  builder.add_symbol({"local_alias", 0x1000, 0x20, text, STT_FUNC, STB_LOCAL});
  builder.add_symbol({"inside", 0x1010, 0x10, text});
  builder.add_symbol({"label", 0x1030, 0, text, STT_NOTYPE});
  builder.add_symbol({"alias", 0x1000, 0x28, text});
  builder.add_symbol({"next", 0x1028, 0x10, text});
  const auto functions = bolt_functions(ElfSections(builder.build_file()));
  EXPECT_EQ(names(functions), (Names{"alias", "next"}));
  EXPECT_EQ(functions[0].end, 0x1028U);
}

TEST(BoltNames, are_none_of_a_stripped_file) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, 0x100);
  EXPECT_TRUE(bolt_functions(ElfSections(builder.build_file())).empty());
}

}  // namespace
