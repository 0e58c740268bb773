#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "arch/native.h"
#include "rewriter/copy_function.h"
#include "unit/rewriter/elf_functions.h"
#include "unit/rewriter/same_code.h"

namespace sp::rewriter {
namespace {

using core::Address;

/// Copies each function of a file and compares; returns how many were copied.
std::size_t copy_all(const ElfFunctions& functions, bool may_be_complete) {
  core::CopyPlace place{Address{0x20000000}, std::uint64_t{1} << 30U, 1U << 20U};
  std::size_t copied = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const ElfFunction function = functions.at(i);
    core::FunctionToCopy to_copy = function.to_copy();
    to_copy.is_complete = to_copy.is_complete && may_be_complete;
    const auto copy = copy_function(to_copy, place);
    if (!copy) {
      continue;
    }
    EXPECT_EQ(difference(to_copy, *copy), "") << std::hex << function.bounds.begin.value();
    if (testing::Test::HasFailure()) {
      return 0;
    }
    place.at = place.at + copy->code.size();
    place.counters += 8 * std::uint64_t{copy->counters};
    ++copied;
  }
  return copied;
}

class CopiesOfBinaries : public testing::TestWithParam<const char*> {};

TEST_P(CopiesOfBinaries, are_the_originals_code) {
  if (!arch::Native::kHasCopies || !std::filesystem::exists(GetParam())) {
    GTEST_SKIP() << "no copies of " << GetParam() << " on this machine";
  }
  const auto functions = ElfFunctions::open(GetParam(), 0x10000000);
  ASSERT_TRUE(functions);
  for (const bool may_be_complete : {true, false}) {
    EXPECT_GT(copy_all(*functions, may_be_complete), functions->size() * 8 / 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, CopiesOfBinaries,
                         testing::Values("/usr/bin/gzip", "/usr/bin/bash",
                                         "/lib/x86_64-linux-gnu/libc.so.6"));

}  // namespace
}  // namespace sp::rewriter
