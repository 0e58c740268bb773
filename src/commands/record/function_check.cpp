#include "commands/record/function_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands/record/trigger_names.h"
#include "commands/run_files/function_places.h"
#include "commands/run_files/function_table.h"
#include "commands/run_files/similar_names.h"
#include "commands/symbols/binary_file.h"
#include "profiler/text.h"
#include "symbols/code_selection.h"

namespace sp::record {
namespace {

std::vector<std::string> programs_of(const cli::RecordOptions& options) {
  if (options.launches_target()) {
    const std::string& name = options.command.front();
    return {name.find('/') == std::string::npos ? symbols_command::found_on_path(name) : name};
  }
  std::vector<std::string> programs;
  for (const pid_t pid : options.pids) {
    programs.push_back(fmt::format("/proc/{}/exe", pid));
  }
  return programs;
}

core::Result<void> check_program(const std::string& path, const cli::RecordOptions& options,
                                 const symbols::FunctionFilters& filters) {
  const auto& triggers = options.control.triggers;
  const auto image = symbols_command::open_program(path);
  if (!image) {
    return {};  // what is wrong with it is said where it is started
  }
  if (auto checked = run_files::check_places(*image, path, options.places); !checked) {
    return checked;
  }
  if (triggers.empty()) {
    return {};
  }
  run_files::FunctionTableInput input;
  input.image = *image;
  input.path = path;
  input.debug_directories = options.debug_dirs;
  input.filters = &filters;
  input.selection = {options.only_funcs};
  input.places = options.places;
  const auto functions = run_files::function_table(input);
  for (const core::TraceTrigger& trigger : triggers) {
    TriggerNames name({trigger});
    const run_files::TabledFunction* left_out = nullptr;
    const bool is_met = std::any_of(functions.begin(), functions.end(), [&](const auto& one) {
      const bool is_named = name.triggers_of(one.row) != 0;
      left_out = is_named ? &one : left_out;
      return is_named && one.row.is_instrumented;
    });
    if (!is_met && left_out != nullptr) {
      return core::fail(
          fmt::format("--trigger '{}': {} is not traced ({}); change that, or name "
                      "another function",
                      trigger.text, left_out->row.demangled_name, left_out->row.reason));
    }
    if (!is_met) {
      return core::fail(fmt::format("--trigger '{}': {} has no function '{}'; {}", trigger.text,
                                    path, trigger.function,
                                    run_files::nearest_names(functions, trigger.function)));
    }
  }
  return {};
}

/// As it is mapped. /proc/PID/exe of a file that was removed is "FILE (deleted)".
std::string mapped_path_of(const std::string& program) {
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(program, error);
  if (error) {
    path = std::filesystem::read_symlink(program, error);
  }
  return error ? program : path.string();
}

bool is_path(const std::string& module) { return module.find('/') != std::string::npos; }

/// `traced` of --only-instrument-execs and `module` of --xray-id may be one file: they are paths,
/// or names, of which one may be a link to the other (libz.so.1, libz.so.1.2.13).
bool may_be_one(const std::string& traced, const std::string& module) {
  if (traced == "all" || traced == module) {
    return true;
  }
  if (is_path(traced)) {
    return symbols::is_wanted_module({module}, mapped_path_of(traced), false) ||
           profiler::base_name(traced) == module;
  }
  if (is_path(module)) {
    return symbols::is_wanted_module({traced}, mapped_path_of(module), false);
  }
  return traced.starts_with(module) || module.starts_with(traced);
}

/// The ids with a module are those of this file, and it has no such ones.
core::Result<void> check_ids_of_file(const std::string& path, const core::XrayIds& ids) {
  if (!symbols::is_wanted_module({ids.module}, mapped_path_of(path), false)) {
    return {};
  }
  const auto image = symbols_command::open_program(path);
  return image ? run_files::check_ids(*image, path, {{"", ids.first, ids.last}})
               : core::Result<void>{};
}

/// Each module that --xray-id names is traced, and has the ids if its file is known.
core::Result<void> check_modules_of_ids(const cli::RecordOptions& options) {
  const auto& named = options.only_instrument_execs;
  const std::vector<std::string> programs = programs_of(options);
  for (const core::XrayIds& ids : options.places.xray_ids) {
    if (ids.module.empty()) {
      continue;
    }
    const bool is_traced =
        std::any_of(named.begin(), named.end(),
                    [&](const std::string& one) { return may_be_one(one, ids.module); }) ||
        std::any_of(programs.begin(), programs.end(), [&](const std::string& program) {
          return symbols::is_wanted_module({ids.module}, mapped_path_of(program), false);
        });
    if (!is_traced) {
      return core::fail(fmt::format("--xray-id: {} is not traced; add --only-instrument-execs {}",
                                    ids.module, ids.module));
    }
    std::vector<std::string> files = programs;
    std::copy_if(named.begin(), named.end(), std::back_inserter(files), is_path);
    for (const std::string& file : files) {
      if (auto checked = check_ids_of_file(file, ids); !checked) {
        return checked;
      }
    }
  }
  return {};
}

}  // namespace

core::Result<void> check_functions(const cli::RecordOptions& options,
                                   const symbols::FunctionFilters& filters) {
  if (auto checked = check_modules_of_ids(options); !checked) {
    return checked;
  }
  if ((options.control.triggers.empty() && options.places.is_any()) ||
      !options.only_instrument_execs.empty()) {
    return {};
  }
  core::Result<void> first_failure;
  for (const std::string& program : programs_of(options)) {
    auto checked = check_program(program, options, filters);
    if (checked) {
      return {};  // one of several processes that has it is enough
    }
    first_failure = first_failure ? std::move(checked) : std::move(first_failure);
  }
  return first_failure;
}

}  // namespace sp::record
