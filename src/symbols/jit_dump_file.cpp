#include "symbols/jit_dump_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace sp::symbols {
namespace {

/// The jit-PID.dump files that the process has mapped executable, those of its own pid first.
std::vector<std::string> mapped_dumps(const JitOwner& owner) {
  std::vector<std::string> paths;
  std::ifstream in(fmt::format("/proc/{}/maps", owner.outer_pid()));
  for (std::string line; std::getline(in, line);) {
    const auto flags = line.find(' ');
    const auto path = line.find('/');
    if (path == std::string::npos || flags + 3 >= line.size() || line[flags + 3] != 'x') {
      continue;
    }
    const std::string name = line.substr(path);
    const pid_t pid = jit_dump_pid(name);
    if (pid == owner.inner_pid() || pid == owner.outer_pid()) {
      paths.insert(paths.begin(), name);
    } else if (pid >= 0) {
      paths.push_back(name);  // a parent's: its code is the child's, too
    }
  }
  return paths;
}

}  // namespace

pid_t jit_dump_pid(const std::string& path) {
  constexpr std::string_view kBegin = "jit-";
  constexpr std::string_view kEnd = ".dump";
  std::string_view name = path;
  name.remove_prefix(name.rfind('/') + 1);
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) ||
      name.size() <= kBegin.size() + kEnd.size()) {
    return -1;
  }
  const std::string_view digits =
      name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  pid_t pid = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  return error == std::errc{} && end == digits.data() + digits.size() && pid > 0 ? pid : -1;
}

JitDumpFile::JitDumpFile(pid_t pid, std::string root) : owner_(pid), root_(std::move(root)) {
  look_for();
}

void JitDumpFile::look_for() {
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  look_next_ = core::Clock::now() + kBetweenLooks;
  for (const std::string& path : mapped_dumps(owner_)) {
    fd_ = owner_.open(AT_FDCWD, root_ + path);
    if (fd_.valid()) {
      return;
    }
  }
}

void JitDumpFile::refresh() {
  if (!fd_.valid() && core::Clock::now() >= look_next_) {
    look_for();
  }
  struct stat status {};
  if (!fd_.valid() || ::fstat(fd_.get(), &status) != 0 || status.st_size == read_size_) {
    return;
  }
  read_size_ = status.st_size;
  dump_.read_on([this](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
    const ssize_t got = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  });
}

}  // namespace sp::symbols
