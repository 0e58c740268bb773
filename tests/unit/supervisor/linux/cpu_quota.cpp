#include "supervisor/linux/cpu_quota.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using Files = std::vector<std::string>;

TEST(CpuQuota, is_read_of_the_group_and_of_those_around_it) {
  EXPECT_EQ(quota_files("0::/user.slice/a b.scope\n"),
            (Files{"/sys/fs/cgroup/user.slice/a b.scope/cpu.max",
                   "/sys/fs/cgroup/user.slice/cpu.max", "/sys/fs/cgroup/cpu.max"}));
  EXPECT_EQ(quota_files("0::/\n"), (Files{"/sys/fs/cgroup/cpu.max"}));
}

TEST(CpuQuota, of_version_1_belongs_to_the_cpu_controller) {
  EXPECT_EQ(
      quota_files("5:memory:/m\n4:cpu,cpuacct:/docker/1\n3:cpuset:/s\n"),
      (Files{"/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us",
             "/sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"}));
}

TEST(CpuQuota, has_no_file_where_the_text_is_another_one) {
  EXPECT_EQ(quota_files(""), Files{});
  EXPECT_EQ(quota_files("nothing\n:one\n0::\n0::no-path\n"), Files{});
}

TEST(CpuQuota, is_a_number_and_neither_max_nor_minus_one) {
  EXPECT_TRUE(is_quota("50000 100000\n"));
  EXPECT_TRUE(is_quota("200000\n"));
  EXPECT_FALSE(is_quota("max 100000\n"));
  EXPECT_FALSE(is_quota("-1\n"));
  EXPECT_FALSE(is_quota(""));
}

}  // namespace
}  // namespace sp::supervisor
