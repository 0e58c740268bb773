#include "commands/run_files/similar_names.h"

#include <gtest/gtest.h>

namespace sp::run_files {
namespace {

using Names = std::vector<std::string>;

TEST(SimilarNames, are_those_that_may_have_been_meant) {
  const std::vector<std::string_view> names{"main", "f", "g"};
  EXPECT_EQ(similar_names(names, "mainly"), Names{"main"});
  EXPECT_EQ(similar_names(names, "ai"), Names{"main"});
  EXPECT_EQ(similar_names(names, ""), Names{});
}

}  // namespace
}  // namespace sp::run_files
