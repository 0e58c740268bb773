#include "commands/record/learned_functions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "unit/symbols/elf_builder.h"

namespace sp::record {
namespace {

using std::chrono::milliseconds;

/// What a step of watching has seen: a function at 0x1000 and one at 0x2000.
std::vector<LearnedFunctions::CallCosts> seen(const std::shared_ptr<const core::ElfImage>& image,
                                              int first, int second) {
  supervisor::CodeAnalysis::File file{"/bin/demo", "", true, image};
  return {{file,
           {{0x1000, 100, milliseconds(first), milliseconds(1)},
            {0x2000, 100, milliseconds(second), milliseconds(1)}}}};
}

std::string learned(const LearnedFunctions& functions, const std::string& identity,
                    std::uint64_t offset) {
  profiler::SymbolRow row;
  row.offset = offset;
  functions.describe(identity, row);
  return row.learned;
}

TEST(LearnedFunctions, have_shares_of_all_that_was_seen) {
  test::ElfBuilder builder;
  const auto image = builder.build_image();
  const std::string identity = image->identity();
  LearnedFunctions functions;
  const LearnedFunctions::Kept kept{{false, false}};
  // The first is too much; once it is gone the second is, of a step that is its alone.
  EXPECT_EQ(functions.choose(seen(image, 60, 20), kept, milliseconds(1'000), 4, true)[0],
            (std::vector<std::size_t>{0}));
  EXPECT_EQ(functions.choose(seen(image, 0, 20), kept, milliseconds(100), 4, true)[0],
            (std::vector<std::size_t>{1}));
  EXPECT_EQ(learned(functions, identity, 0x1000), "learned: 100 calls/s, 60 % of cost");
  EXPECT_EQ(learned(functions, identity, 0x2000), "learned: 1,000 calls/s, 40 % of cost");
}

}  // namespace
}  // namespace sp::record
