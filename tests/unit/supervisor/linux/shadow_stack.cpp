#include "supervisor/linux/shadow_stack.h"

#include <gtest/gtest.h>

#include <string_view>

namespace sp::supervisor {
namespace {

using namespace std::string_view_literals;

TEST(ShadowStack, is_one_of_a_threads_features) {
  EXPECT_TRUE(status_shows_shadow_stack("Name:\ta\nx86_Thread_features:\tshstk \nThreads:\t1\n"));
  EXPECT_TRUE(status_shows_shadow_stack("x86_Thread_features:\tshstk wrss \n"));
  EXPECT_FALSE(
      status_shows_shadow_stack("x86_Thread_features:\t\nx86_Thread_features_locked:\t"
                                "shstk wrss \n"));
  EXPECT_FALSE(status_shows_shadow_stack("Name:\tshstk\nThreads:\t1\n"));
  EXPECT_FALSE(status_shows_shadow_stack(""));
}

TEST(ShadowStack, is_to_come_where_glibc_is_told_so) {
  EXPECT_TRUE(environment_speaks_of_shadow_stack("A=b\0GLIBC_TUNABLES=glibc.cpu.hwcaps=SHSTK\0"sv));
  EXPECT_TRUE(
      environment_speaks_of_shadow_stack("GLIBC_TUNABLES=glibc.cpu.x86_shstk=permissive"sv));
  EXPECT_TRUE(environment_speaks_of_shadow_stack(
      "GLIBC_TUNABLES=glibc.malloc.check=1:glibc.cpu.aarch64_gcs=1\0B=c\0"sv));
  EXPECT_FALSE(environment_speaks_of_shadow_stack("GLIBC_TUNABLES=glibc.malloc.check=1\0"sv));
  EXPECT_FALSE(environment_speaks_of_shadow_stack("SHSTK=1\0MY_GLIBC_TUNABLES=SHSTK\0\0"sv));
  EXPECT_FALSE(environment_speaks_of_shadow_stack(""sv));
}

}  // namespace
}  // namespace sp::supervisor
