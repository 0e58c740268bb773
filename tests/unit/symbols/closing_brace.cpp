#include "symbols/closing_brace.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unit/symbols/elf_builder.h"

namespace sp::symbols {
namespace {

using core::Address;
using core::Flow;
using core::Instruction;
using test::bytes_of;
using test::ElfBuilder;

/// Enough of x86-64 for the tests: pop, ret, near call and short jump.
std::optional<Instruction> decode(std::uint16_t /*machine*/, std::span<const std::byte> code,
                                  Address at) {
  switch (static_cast<unsigned>(code[0])) {
    case 0xC3:
      return Instruction{at, 1, Flow::ret, {}};
    case 0xE8:
      return Instruction{at, 5, Flow::call, {}};
    case 0xEB:
      return Instruction{at, 2, Flow::jump, at + 2 + static_cast<unsigned>(code[1])};
    default:
      return Instruction{at, 1, Flow::next, {}};
  }
}

/// 0x1000: a return; 0x1002: a jump to it; 0x1004: a call and a jump; 0x100B: pop, ret.
FunctionLines marked(FunctionLines lines) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000,
                   bytes_of({0x5D, 0xC3, 0xEB, 0x07, 0xE8, 0, 0, 0, 0, 0xEB, 0x00, 0x5D, 0xC3}));
  const auto image = builder.build_image();
  mark_closing_brace(lines, *image, decode);
  return lines;
}

std::vector<bool> closing_in(const FunctionLines& lines) {
  std::vector<bool> closing;
  for (const LineRange& row : lines.rows) {
    closing.push_back(row.is_closing);
  }
  return closing;
}

FunctionLines lines_of(std::uint32_t line_of_first) {
  const std::string file = "/src/demo.c";
  return {3,
          false,
          true,
          {{0x1000, 0x1002, {file, line_of_first}},
           {0x1002, 0x1004, {file, 9}},
           {0x1004, 0x100B, {file, 9}},
           {0x100B, 0x100D, {file, 9}}}};
}

TEST(ClosingBrace, is_where_the_function_returns_and_what_jumps_there) {
  // What calls does more than to return.
  EXPECT_EQ(closing_in(marked(lines_of(9))), (std::vector<bool>{true, true, false, true}));
}

TEST(ClosingBrace, is_of_the_last_line) {
  EXPECT_EQ(closing_in(marked(lines_of(4))), (std::vector<bool>{false, true, false, true}));
  FunctionLines longer = lines_of(9);
  longer.rows.front().source.line = 10;
  EXPECT_EQ(closing_in(marked(longer)), (std::vector<bool>{true, false, false, false}));
}

TEST(ClosingBrace, is_not_looked_for_where_compilers_have_none) {
  FunctionLines lines = lines_of(9);
  lines.ends_in_brace = false;
  EXPECT_EQ(closing_in(marked(lines)), (std::vector<bool>(4, false)));
}

TEST(Nops, are_counted_where_other_code_is_behind_them) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, bytes_of({0x90, 0x90, 0x5D, 0xC3, 0x90, 0x5D, 0x90, 0xC3}));
  const auto image = builder.build_image();
  const std::string file = "/src/demo.c";
  FunctionLines lines;
  lines.rows = {{0x1000, 0x1004, {file, 3}},
                {0x1004, 0x1005, {file, 4}},   // nothing else
                {0x1005, 0x1008, {file, 5}}};  // behind other code
  mark_nops(lines, *image, decode);
  EXPECT_EQ(lines.rows[0].nops, 2U);
  EXPECT_EQ(lines.rows[1].nops, 0U);
  EXPECT_EQ(lines.rows[2].nops, 0U);
}

}  // namespace
}  // namespace sp::symbols
