#include "commands/record/function_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
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

/// Each module that --xray-id names is traced.
core::Result<void> check_modules_of_ids(const cli::RecordOptions& options) {
  const std::vector<std::string> programs = programs_of(options);
  for (const core::XrayIds& ids : options.places.xray_ids) {
    const bool is_traced =
        ids.module.empty() ||
        symbols::is_wanted_module(options.only_instrument_execs, ids.module, false) ||
        std::any_of(programs.begin(), programs.end(), [&](const std::string& program) {
          std::error_code error;
          const std::string file = std::filesystem::canonical(program, error);
          return symbols::is_wanted_module({ids.module}, program, false) ||
                 (!error && symbols::is_wanted_module({ids.module}, file, false));
        });
    if (!is_traced) {
      return core::fail(fmt::format("--xray-id: {} is not traced; add --only-instrument-execs {}",
                                    ids.module, ids.module));
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
