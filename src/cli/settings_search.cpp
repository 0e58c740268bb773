#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "cli/settings.h"
#include "core/fd.h"

namespace sp::cli {
namespace {

using core::fail_errno;
using core::Result;

constexpr const char* kFileName = "superprofiler.toml";
constexpr std::size_t kLargest = 1U << 20U;

/// "" for the root directory, and if it is not known.
std::string working_directory() {
  std::array<char, PATH_MAX> path{};
  if (::getcwd(path.data(), path.size()) == nullptr || path[0] != '/' || path[1] == '\0') {
    return "";
  }
  return path.data();
}

Result<std::string> read_whole(int file, const std::string& path) {
  std::string text;
  std::array<char, 4096> some{};
  for (;;) {
    const ssize_t count = ::read(file, some.data(), some.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return fail_errno(fmt::format("reading {}", path));
    }
    if (count == 0) {
      return text;
    }
    text.append(some.data(), static_cast<std::size_t>(count));
    if (text.size() > kLargest) {
      return core::fail(fmt::format("{} is larger than 1 MiB: that is no file of options", path));
    }
  }
}

/// Nothing if it does not exist, or is not to be used.
Result<std::optional<SettingsFile>> read_file(const std::string& path,
                                              std::vector<std::string>& notes) {
  const core::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) {
      return std::nullopt;
    }
    if (errno == EACCES) {  // as a rule it is another user's, which would not be used either
      notes.push_back(fmt::format("{} may not be read and is not used", path));
      return std::nullopt;
    }
    return fail_errno(fmt::format("opening {}", path));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return core::fail(fmt::format("{} is no file; remove or rename it", path));
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    notes.push_back(fmt::format("{} belongs to another user and is not used", path));
    return std::nullopt;
  }
  auto text = read_whole(file.get(), path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  return SettingsFile{path, *std::move(text)};
}

}  // namespace

Result<Settings> find_settings() {
  Settings settings;
  if (const char* const environment = std::getenv("SUPERPROFILER_OPTS")) {
    settings.environment = environment;
  }
  for (std::string at = working_directory(); !at.empty(); at.erase(at.rfind('/'))) {
    auto file = read_file(fmt::format("{}/{}", at, kFileName), settings.notes);
    if (!file) {
      return tl::unexpected(file.error());
    }
    if (*file || !settings.notes.empty()) {
      settings.file = *std::move(file);
      break;
    }
  }
  return settings;
}

}  // namespace sp::cli
