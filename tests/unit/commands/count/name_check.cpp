#include "commands/count/name_check.h"

#include <gtest/gtest.h>

namespace sp::count {
namespace {

TEST(NoSuchFunction, names_the_nearest) {
  const std::string text = no_such_function(
      {{"c", "mallok"}}, {"free", "malloc", "calloc", "memalign"}, {"/lib/libc.so.6"});
  EXPECT_EQ(text, "c:mallok: no function of libc.so.6 has that name; near: malloc, calloc");
}

TEST(NoSuchFunction, says_where_names_are_listed) {
  EXPECT_EQ(no_such_function({{"", "/zzzzzzzz/"}}, {"f"}, {"/bin/app"}),
            "/zzzzzzzz/: no function of app has that name; superprofiler symbols FILE lists them");
  EXPECT_NE(no_such_function({{"x", "f"}}, {}, {}).find("x:f: no file of that name is mapped"),
            std::string::npos);
}

}  // namespace
}  // namespace sp::count
