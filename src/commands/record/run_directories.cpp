#include "commands/record/run_directories.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "supervisor/linux/proc_files.h"

namespace sp::record {

std::string run_name(const cli::RecordOptions& options, pid_t pid) {
  if (!options.name.empty()) {
    return options.name;
  }
  std::string program;
  if (!options.launches_target()) {
    program = supervisor::read_name(pid, pid);
    const auto words = supervisor::read_command_line(pid);
    if (!words.empty()) {
      program = words.front();
    }
  } else {
    program = options.command.front();
  }
  program = program.substr(program.rfind('/') + 1);
  if (program.empty() || program.front() == '.') {
    program = "run" + program;
  }
  return fmt::format("{}-{}", program, pid);
}

core::Result<profiler::RunDirectory> RunDirectories::make(const std::string& name) {
  name_ = name;
  if (!options_.split) {
    return create(name);
  }
  if (auto checked = check_later_parts(); !checked) {
    return tl::unexpected(checked.error());
  }
  return make_part(1);
}

core::Result<profiler::RunDirectory> RunDirectories::make_part(std::uint32_t part) {
  return create(fmt::format("{}.{}", name_, part));
}

core::Result<profiler::RunDirectory> RunDirectories::create(const std::string& name) {
  auto made = profiler::RunDirectory::create(options_.output, name, options_.overwrite);
  if (made) {
    std::error_code unknown_directory;
    const auto absolute = std::filesystem::absolute(made->path(), unknown_directory);
    const std::lock_guard lock(mutex_);
    current_ = unknown_directory ? made->path() : absolute.lexically_normal().string();
  }
  return made;
}

/// Better now than when the run has come as far.
core::Result<void> RunDirectories::check_later_parts() const {
  const std::string prefix = name_ + ".";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(options_.output, error), end;
       !error && entry != end && !options_.overwrite; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::string number = name.starts_with(prefix) ? name.substr(prefix.size()) : "";
    if (!number.empty() && number.find_first_not_of("0123456789") == std::string::npos) {
      return core::fail(
          fmt::format("{} exists already: choose another name with --name, or --overwrite",
                      entry->path().string()));
    }
  }
  return {};
}

std::string RunDirectories::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

}  // namespace sp::record
