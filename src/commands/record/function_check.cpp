#include "commands/record/function_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/record/trigger_names.h"
#include "commands/run_files/function_places.h"
#include "commands/run_files/function_table.h"
#include "commands/run_files/similar_names.h"
#include "commands/symbols/binary_file.h"
#include "core/edit_distance.h"

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

/// Those with a part of the name, or that are a few letters from it; at most five.
std::string nearest(const std::vector<run_files::TabledFunction>& functions,
                    const std::string& typed) {
  std::vector<std::string_view> names;
  names.reserve(functions.size());
  for (const run_files::TabledFunction& one : functions) {
    names.push_back(one.row.demangled_name);
  }
  std::vector<std::string> found = run_files::similar_names(names, typed);
  if (found.empty()) {
    const auto distance = [&](std::string_view name) { return core::edit_distance(name, typed); };
    const auto least = std::min_element(
        names.begin(), names.end(),
        [&](std::string_view a, std::string_view b) { return distance(a) < distance(b); });
    if (least != names.end() && distance(*least) <= std::max<std::size_t>(2, typed.size() / 3)) {
      found.emplace_back(*least);
    }
  }
  return found.empty() ? "superprofiler symbols lists them"
                       : fmt::format("near to it are {}", fmt::join(found, ", "));
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
                                    path, trigger.function, nearest(functions, trigger.function)));
    }
  }
  return {};
}

}  // namespace

core::Result<void> check_functions(const cli::RecordOptions& options,
                                   const symbols::FunctionFilters& filters) {
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
