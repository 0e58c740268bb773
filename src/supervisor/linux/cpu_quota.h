#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sp::supervisor {

/// Whether a control group limits how much of the CPUs this process may use (`cpu.max`, or
/// `cpu.cfs_quota_us` of version 1): what we use there is taken from the target. False where
/// nothing can be read.
[[nodiscard]] bool cpu_is_rationed();

/// The files that say so, for the text of /proc/PID/cgroup: of the group itself and of those that
/// it is in. Pure.
[[nodiscard]] std::vector<std::string> quota_files(std::string_view cgroups);
/// Whether what is in such a file is a limit. Pure.
[[nodiscard]] bool is_quota(std::string_view text);

}  // namespace sp::supervisor
