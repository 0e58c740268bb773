#include "commands/record/prune.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/fd.h"
#include "core/result.h"

namespace sp::record {
namespace {

namespace fs = std::filesystem;
using core::UniqueFd;

/// How long ago a file was written; nothing: that is not known.
std::optional<core::Duration> age_of(int fd) {
  struct stat status {};
  timespec now{};
  if (::fstat(fd, &status) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(now.tv_sec - status.st_mtim.tv_sec) +
         std::chrono::nanoseconds(now.tv_nsec - status.st_mtim.tv_nsec);
}

/// run.json says that the run has ended. It begins with what is looked for.
bool says_that_it_ended(int fd) {
  std::string text;
  std::array<char, 65536> bytes{};
  for (ssize_t size = 0; (size = ::read(fd, bytes.data(), bytes.size())) > 0;) {
    text.append(bytes.data(), static_cast<std::size_t>(size));
  }
  return text.find("\"superprofiler_version\"") != std::string::npos &&
         text.find("\n  \"end\": \"") != std::string::npos &&
         text.find("\n  \"end\": \"running\"") == std::string::npos;
}

/// The names in a directory of files alone; nothing: it has a directory, or cannot be read.
std::optional<std::vector<std::string>> files_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    std::error_code of_entry;
    if (fs::is_directory(entry.symlink_status(of_entry)) || of_entry) {
      return std::nullopt;
    }
    names.push_back(entry.path().filename().string());
  }
  return error ? std::nullopt : std::optional(std::move(names));
}

/// A directory that may be removed, held so that no run begins in it. Not valid: it may not.
UniqueFd hold_old_run(const std::string& path, core::Duration age) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  UniqueFd facts(directory.valid() ? ::openat(directory.get(), "run.json",
                                              O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                                   : -1);
  const auto old = facts.valid() ? age_of(facts.get()) : std::nullopt;
  // A run that goes on holds a lock, see profiler::RunDirectory.
  if (!old || *old <= age || !says_that_it_ended(facts.get()) ||
      ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    return {};
  }
  return directory;
}

std::uint64_t size_of(int directory, const std::string& name) {
  struct stat status {};
  return ::fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0
             ? static_cast<std::uint64_t>(status.st_size)
             : 0;
}

void remove_run(const std::string& path, int directory, const std::vector<std::string>& files,
                Pruned& pruned) {
  std::uint64_t bytes = 0;
  for (const std::string& name : files) {
    bytes += size_of(directory, name);
    if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) {
      pruned.errors.push_back(
          core::Error{fmt::format("removing {}/{}", path, name), errno}.message());
      return;
    }
  }
  if (::rmdir(path.c_str()) != 0) {
    pruned.errors.push_back(core::Error{"removing " + path, errno}.message());
    return;
  }
  pruned.bytes += bytes;
  pruned.removed.push_back(fs::path(path).filename().string());
}

}  // namespace

Pruned prune_runs(const std::string& parent, const std::string& own, core::Duration age) {
  Pruned pruned;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    paths.push_back(entry.path().string());
  }
  if (error) {
    pruned.errors.push_back("reading " + parent + ": " + error.message());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    if (path == own) {
      continue;
    }
    const UniqueFd held = hold_old_run(path, age);
    const auto files = held.valid() ? files_in(path) : std::nullopt;
    if (files) {
      remove_run(path, held.get(), *files, pruned);
    }
  }
  return pruned;
}

}  // namespace sp::record
