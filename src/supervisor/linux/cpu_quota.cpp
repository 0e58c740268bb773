#include "supervisor/linux/cpu_quota.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

constexpr std::string_view kMounts = "/sys/fs/cgroup";

bool has_controller(std::string_view controllers, std::string_view wanted) {
  return std::ranges::any_of(controllers | std::views::split(','), [&](auto&& name) {
    return std::string_view(name.begin(), name.end()) == wanted;
  });
}

void add_upwards(std::string_view mount, std::string_view group, std::string_view file,
                 std::vector<std::string>& files) {
  while (!group.empty() && group != "/") {
    files.push_back(fmt::format("{}{}/{}", mount, group, file));
    group = group.substr(0, group.rfind('/'));
  }
  files.push_back(fmt::format("{}/{}", mount, file));
}

}  // namespace

std::vector<std::string> quota_files(std::string_view cgroups) {
  std::vector<std::string> files;
  for (const auto&& part : cgroups | std::views::split('\n')) {
    const std::string_view line(part.begin(), part.end());
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) {
      continue;
    }
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto group = line.substr(second + 1);
    if (controllers.empty()) {
      add_upwards(kMounts, group, "cpu.max", files);
    } else if (has_controller(controllers, "cpu")) {
      add_upwards(fmt::format("{}/cpu", kMounts), group, "cpu.cfs_quota_us", files);
    }
  }
  return files;
}

bool is_quota(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

bool cpu_is_rationed() {
  const auto cgroups = read_proc("/proc/self/cgroup");
  return cgroups && std::ranges::any_of(quota_files(*cgroups), [](const std::string& file) {
           const auto text = read_proc(file);
           return text && is_quota(*text);
         });
}

}  // namespace sp::supervisor
