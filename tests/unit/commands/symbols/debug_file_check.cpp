#include "commands/symbols/debug_file_check.h"

#include <gtest/gtest.h>

#include "unit/symbols/elf_builder.h"

namespace sp::symbols_command {
namespace {

symbols::ElfSections file_with(std::uint64_t address, std::size_t size, std::string_view build_id,
                               const std::string& name = ".text", bool has_more = false) {
  test::ElfBuilder builder;
  builder.add_code(name, address, size);
  if (!build_id.empty()) {
    builder.set_build_id(build_id);
  }
  if (has_more) {
    builder.add_code(".more", 0x8000, 1);
  }
  return symbols::ElfSections(builder.build_image());
}

TEST(DebugFileCheck, tells_the_first_difference) {
  const auto file = file_with(0x1000, 0x20, "abc");
  EXPECT_EQ(first_difference(file, file_with(0x1000, 0x20, "abc")), "");
  EXPECT_EQ(first_difference(file, file_with(0x1000, 0x20, "abd")),
            "the build-id is 616263, and there 616264");
  EXPECT_EQ(first_difference(file, file_with(0x1000, 0x20, "")),
            "the build-id is 616263, and there none");
  EXPECT_EQ(first_difference(file, file_with(0x1010, 0x20, "abc")),
            ".text is at 0x1000, and there at 0x1010");
  EXPECT_EQ(first_difference(file, file_with(0x1000, 0x21, "abc")),
            ".text has 32 bytes, and there 33");
  EXPECT_EQ(first_difference(file, file_with(0x1000, 0x20, "abc", ".code")),
            "section .text is .code there");
  EXPECT_EQ(first_difference(file, file_with(0x1000, 0x20, "abc", ".text", true)),
            "section .more is only in the debug file");
  EXPECT_EQ(first_difference(file_with(0x1000, 0x20, "abc", ".text", true), file),
            "section .more is only in the first file");
}

}  // namespace
}  // namespace sp::symbols_command
