#include "supervisor/linux/cpu_quota.h"

#include <fmt/format.h>

#include <algorithm>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

constexpr std::string_view kMounts = "/sys/fs/cgroup";

bool has_controller(std::string_view controllers, std::string_view wanted) {
  return fmt::format(",{},", controllers).find(fmt::format(",{},", wanted)) != std::string::npos;
}

void add_upwards(std::string_view mount, std::string_view group, std::string_view file,
                 std::vector<std::string>& files) {
  for (auto end = group.size(); end != 0 && group != "/"; end = group.rfind('/')) {
    group = group.substr(0, end);
    files.push_back(fmt::format("{}{}/{}", mount, group, file));
  }
  files.push_back(fmt::format("{}/{}", mount, file));
}

}  // namespace

std::vector<std::string> quota_files(std::string_view cgroups) {
  std::vector<std::string> files;
  while (!cgroups.empty()) {
    const auto line = cgroups.substr(0, cgroups.find('\n'));
    cgroups.remove_prefix(std::min(line.size() + 1, cgroups.size()));
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    const auto group = line.substr(second == std::string_view::npos ? line.size() : second + 1);
    if (first == std::string_view::npos || !group.starts_with('/')) {
      continue;
    }
    const auto controllers = line.substr(first + 1, second - first - 1);
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
