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

TEST(NearestNames, are_the_similar_ones_or_one_that_is_a_few_letters_away) {
  const std::vector<std::string_view> names{"main", "leaf", "leave"};
  EXPECT_EQ(nearest_names(names, "lea"), "near to it are leaf, leave");
  EXPECT_EQ(nearest_names(names, "mian"), "near to it are main");
  EXPECT_EQ(nearest_names(names, "nothing_like_it"), "superprofiler symbols lists them");
}

}  // namespace
}  // namespace sp::run_files
