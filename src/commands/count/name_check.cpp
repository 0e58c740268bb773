#include "commands/count/name_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "commands/count/needed_libraries.h"
#include "commands/xray/process_modules.h"
#include "core/edit_distance.h"
#include "profiler/text.h"

namespace sp::count {
namespace {

namespace fs = std::filesystem;

/// At most three names, the nearest first.
std::vector<std::string> nearest(const std::vector<std::string>& names, std::string_view typed) {
  constexpr std::size_t kMost = 3;
  std::set<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const std::string_view brief = std::string_view(name).substr(0, name.find('('));
    const std::size_t longer = std::max(brief.size(), typed.size());
    const std::size_t shorter = std::min(brief.size(), typed.size());
    const std::size_t most =
        near.size() < kMost ? std::max<std::size_t>(2, typed.size() / 2) : near.rbegin()->first;
    if (longer - shorter > most) {
      continue;
    }
    const std::size_t distance = core::edit_distance(brief, typed);
    if (distance <= most) {
      near.emplace(distance, name);
      if (near.size() > kMost) {
        near.erase(std::prev(near.end()));
      }
    }
  }
  std::vector<std::string> found(near.size());
  std::transform(near.begin(), near.end(), found.begin(),
                 [](const auto& one) { return one.second; });
  return found;
}

/// Without the characters of a pattern.
std::string plain(std::string_view pattern) {
  std::string text;
  std::copy_if(pattern.begin(), pattern.end(), std::back_inserter(text), [](char c) {
    return std::string_view("*?[]/^$.|()+").find(c) == std::string_view::npos;
  });
  return text;
}

std::string as_typed(const cli::CountPattern& pattern) {
  return pattern.module.empty() ? pattern.function : pattern.module + ":" + pattern.function;
}

/// Of the files that patterns want: whether any has a wanted function.
core::Result<void> check_files(const cli::CountOptions& options, const FunctionPatterns& patterns,
                               const std::vector<NamedFile>& files) {
  std::vector<std::string> names;
  std::vector<std::string> looked_at;
  for (const NamedFile& file : files) {
    if (!patterns.wants(file.path, file.is_program)) {
      continue;
    }
    if (!patterns.find(file).empty()) {
      return {};
    }
    looked_at.push_back(file.path);
    const auto of_file = patterns.all_names(file);
    names.insert(names.end(), of_file.begin(), of_file.end());
  }
  return core::fail(no_such_function(options.patterns, names, looked_at));
}

std::vector<NamedFile> files_of_processes(const cli::CountOptions& options) {
  std::vector<NamedFile> files;
  for (const pid_t pid : options.run.pids) {
    const auto process = xray::read_process(pid);
    if (!process) {
      return {};
    }
    std::error_code error;
    const fs::path program = fs::read_symlink(fmt::format("/proc/{}/exe", pid), error);
    for (const core::Module& module : process->modules) {
      if (module.image != nullptr) {
        files.push_back({module.path, module.root, module.path == program.string(), module.image});
      }
    }
  }
  return files;
}

core::Result<void> check_processes(const cli::CountOptions& options,
                                   const FunctionPatterns& patterns) {
  const std::vector<NamedFile> files = files_of_processes(options);
  return files.empty() ? core::Result<void>{}  // the attach says why
                       : check_files(options, patterns, files);
}

/// As execvp(3) finds it; "" if it does not.
std::string find_program(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) {
    return fs::is_regular_file(name, error) ? name : "";
  }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  while (true) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    const fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    if (fs::is_regular_file(file, error)) {
      return file.string();
    }
    if (folder.size() == rest.size()) {
      return "";
    }
    rest.remove_prefix(folder.size() + 1);
  }
}

/// What it loads later is not known: then the end of the run tells.
core::Result<void> check_program(const cli::CountOptions& options,
                                 const FunctionPatterns& patterns) {
  const std::vector<NamedFile> files = find_needed(find_program(options.run.command.front()));
  const bool are_known =
      !files.empty() &&
      std::all_of(options.patterns.begin(), options.patterns.end(), [&](const auto& pattern) {
        return pattern.module != "*" &&
               std::any_of(files.begin(), files.end(), [&](const NamedFile& file) {
                 return names_module(pattern.module, file.path, file.is_program);
               });
      });
  if (!are_known) {
    return {};
  }
  auto checked = check_files(options, patterns, files);
  const bool is_of_program = std::any_of(options.patterns.begin(), options.patterns.end(),
                                         [](const auto& one) { return one.module.empty(); });
  return checked || !is_of_program
             ? checked
             : core::fail(checked.error().message() +
                          " (in a library: MODULE:NAME; in any program that it starts: *:NAME)");
}

}  // namespace

std::string no_such_function(const std::vector<cli::CountPattern>& patterns,
                             const std::vector<std::string>& names,
                             const std::vector<std::string>& files) {
  std::vector<std::string> typed;
  std::vector<std::string> near;
  for (const cli::CountPattern& pattern : patterns) {
    typed.push_back(as_typed(pattern));
    for (std::string& name : nearest(names, plain(pattern.function))) {
      near.push_back(std::move(name));
    }
  }
  const std::string what = fmt::format("{}", fmt::join(typed, ", "));
  if (files.empty()) {
    return fmt::format("{}: no file of that name is mapped; *:NAME looks in all of them", what);
  }
  std::string where = files.size() == 1 ? std::string(profiler::base_name(files.front()))
                                        : fmt::format("{} files", files.size());
  return fmt::format("{}: no function of {} has that name; {}", what, where,
                     near.empty() ? "superprofiler symbols FILE lists them"
                                  : fmt::format("near: {}", fmt::join(near, ", ")));
}

std::vector<NamedFile> known_files(const cli::CountOptions& options) {
  return options.run.launches_target() ? find_needed(find_program(options.run.command.front()))
                                       : files_of_processes(options);
}

core::Result<void> check_names(const cli::CountOptions& options, const FunctionPatterns& patterns) {
  return options.run.launches_target() ? check_program(options, patterns)
                                       : check_processes(options, patterns);
}

}  // namespace sp::count
