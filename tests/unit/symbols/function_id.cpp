#include "symbols/function_id.h"

#include <gtest/gtest.h>

#include "elf_builder.h"

namespace sp::symbols {
namespace {

using test::ElfBuilder;

TEST(FunctionId, has_the_hash_above_and_the_address_below) {
  EXPECT_EQ(function_id(0x89ABCDEF, 0x1140), 0x89ABCDEF00001140U);
  EXPECT_EQ(function_id(0, 0x700000401000), 0x00401000U);
}

// The sums are those of xxhsum -H0.
TEST(ModuleHash, is_of_the_raw_bytes_of_the_build_id) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, 0x10);
  builder.set_build_id("abc");
  const auto image = builder.build_image();
  ASSERT_EQ(image->build_id(), "616263");
  EXPECT_EQ(module_hash(*image), 0x32D153FFU);
}

TEST(ModuleHash, is_of_the_executable_segments_without_a_build_id) {
  ElfBuilder builder;
  builder.add_code(".text", 0x1000, test::bytes_of("a"));
  const auto image = builder.build_image();
  ASSERT_EQ(image->build_id(), "");
  EXPECT_EQ(module_hash(*image), 0x550D7456U);
  builder = ElfBuilder();
  const auto text = builder.add_code(".text", 0x1000, test::bytes_of("a"));
  builder.add_symbol({"name", 0x1000, 1, text});
  EXPECT_EQ(module_hash(*builder.build_image()), 0x550D7456U) << "symbols are not executed";
}

}  // namespace
}  // namespace sp::symbols
