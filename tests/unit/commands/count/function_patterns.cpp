#include "commands/count/function_patterns.h"

#include <gtest/gtest.h>

namespace sp::count {
namespace {

TEST(NamesModule, short_names_are_those_of_libraries) {
  EXPECT_TRUE(names_module("c", "/lib/x86_64-linux-gnu/libc.so.6", false));
  EXPECT_TRUE(names_module("c", "/lib/libc-2.31.so", false));
  EXPECT_TRUE(names_module("stdc++", "/usr/lib/libstdc++.so.6.0.30", false));
  EXPECT_FALSE(names_module("c", "/lib/libcap.so.2", false));
  EXPECT_FALSE(names_module("c", "/lib/libc-client.so", false));
  EXPECT_FALSE(names_module("c", "/usr/bin/c++", true));
}

TEST(NamesModule, none_is_the_program) {
  EXPECT_TRUE(names_module("", "/usr/bin/app", true));
  EXPECT_FALSE(names_module("", "/lib/libc.so.6", false));
}

TEST(NamesModule, a_path_a_file_name_or_all) {
  EXPECT_TRUE(names_module("/usr/bin/app", "/usr/bin/app", false));
  EXPECT_TRUE(names_module("app", "/usr/bin/app", true));
  EXPECT_TRUE(names_module("libc.so.6", "/lib/libc.so.6", false));
  EXPECT_TRUE(names_module("*", "/lib/libc.so.6", false));
  EXPECT_FALSE(names_module("*", "[vdso]", false));
}

}  // namespace
}  // namespace sp::count
