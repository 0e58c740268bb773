#include "symbols/jit_owner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace sp::symbols {
namespace {

/// The last number of the line "KEY:\t..." of /proc/PID/status (proc(5)).
std::optional<long> status_value(pid_t pid, std::string_view key, std::size_t column) {
  std::ifstream in(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) {
      continue;
    }
    std::vector<long> values;
    const char* at = line.data() + key.size();
    const char* end = line.data() + line.size();
    while (at < end) {
      long value = 0;
      const auto [behind, error] = std::from_chars(at, end, value);
      if (error == std::errc{}) {
        values.push_back(value);
      }
      at = std::max(behind, at + 1);
    }
    if (values.empty()) {
      return std::nullopt;
    }
    return values[std::min(column, values.size() - 1)];
  }
  return std::nullopt;
}

}  // namespace

JitOwner::JitOwner(pid_t pid) : outer_pid_(pid) {
  // proc(5): NSpid lists the pid from our namespace down to its own; Uid: real, effective, ...
  constexpr std::size_t kInnermost = SIZE_MAX;
  inner_pid_ = static_cast<pid_t>(status_value(pid, "NSpid:", kInnermost).value_or(pid));
  user_ = static_cast<uid_t>(status_value(pid, "Uid:", 1).value_or(static_cast<long>(::geteuid())));
}

core::UniqueFd JitOwner::open(int folder, const std::string& name) const {
  core::UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (fd.valid() && ::fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      (status.st_uid == user_ || status.st_uid == 0)) {
    return fd;
  }
  return core::UniqueFd();
}

}  // namespace sp::symbols
