#include "symbols/returning_twice.h"

#include <gtest/gtest.h>

#include <csetjmp>
#include <string>

#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "symbols/elf_sections.h"
#include "symbols/plt_names.h"

namespace sp::symbols {
namespace {

std::jmp_buf here;

TEST(ReturningTwice, is_setjmp_where_the_program_calls_it) {
  if (setjmp(here) != 0) {  // NOLINT(cert-err52-cpp): what is looked for
    FAIL();
  }
  const auto file = core::MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto image = core::ElfImage::parse(*file);
  ASSERT_TRUE(image);
  const auto found = find_returning_twice(*image);
  ASSERT_FALSE(found.empty());
  const PltNames stubs{ElfSections(*image)};
  for (const std::uint64_t address : found) {
    const auto stub = stubs.find(address);
    ASSERT_TRUE(stub) << std::hex << address;
    EXPECT_NE(stub->name.find("setjmp"), std::string::npos) << stub->name;
  }
}

TEST(ReturningTwice, is_nothing_in_a_file_without_it) {
  const auto file = core::MappedFile::open("/usr/bin/true");
  ASSERT_TRUE(file);
  const auto image = core::ElfImage::parse(*file);
  ASSERT_TRUE(image);
  EXPECT_TRUE(find_returning_twice(*image).empty());
}

}  // namespace
}  // namespace sp::symbols
