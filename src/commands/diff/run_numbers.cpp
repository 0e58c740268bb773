#include "commands/diff/run_numbers.h"

#include <fmt/format.h>

#include <utility>

#include "commands/run_files/finished_run.h"
#include "commands/run_files/recorded_run.h"
#include "commands/run_files/tsv_file.h"
#include "profiler/text.h"

namespace sp::diff {
namespace {

using core::Result;
using profiler::base_name;

void add(std::optional<Count>& sum, std::uint64_t number, std::string_view kind) {
  if (!sum) {
    sum = Count{number, std::string(kind)};
    return;
  }
  sum->number += number;
  if (sum->kind != kind) {
    sum->kind = kMixed;
  }
}

void add(std::optional<Count>& sum, const std::optional<Count>& part) {
  if (part) {
    add(sum, part->number, part->kind);
  }
}

Result<void> add_blocks(RunNumbers& run, std::vector<std::string>& notes) {
  auto file = run_files::TsvFile::open(run.directory + "/blocks.tsv",
                                       {"module", "function", "instructions", "hits", "kind"});
  if (!file) {
    return tl::unexpected(file.error());
  }
  while (file->next()) {
    if (file->raw(4) == "sampled") {
      continue;
    }
    const auto instructions = file->number(2);
    const auto hits = file->number(3);
    if (!instructions || !hits) {
      file->reject();
      break;
    }
    const std::string module = file->text(0);
    FunctionNumbers& function = run.functions[{std::string(base_name(module)), file->text(1)}];
    add(function.executions, *hits, file->raw(4));
    add(function.instructions, *hits * *instructions, file->raw(4));
    run.counted_modules.emplace(base_name(module));
  }
  if (!file->damage().empty()) {
    notes.push_back(file->damage());
  }
  return {};
}

}  // namespace

bool RunNumbers::is_sampled() const { return run.samples > 0 && ns_per_sample() > 0; }

double RunNumbers::ns_per_sample() const {
  const std::uint64_t samples = run.wall ? run.on_cpu : run.samples;
  return samples == 0 ? 0 : static_cast<double>(run.cpu_ns) / static_cast<double>(samples);
}

double RunNumbers::ns_per_stack() const {
  return run.with_stack == 0 ? 0
                             : ns_per_sample() * static_cast<double>(run.samples) /
                                   static_cast<double>(run.with_stack);
}

Result<RunNumbers> read_numbers(const std::string& directory, std::vector<std::string>& notes) {
  auto recorded = run_files::read_run(directory);
  if (!recorded) {
    return tl::unexpected(recorded.error());
  }
  if (run_files::is_only_recorded(directory, "functions.tsv")) {
    return core::fail(fmt::format(
        "diff needs the files of a finished run, and {} has a recording alone", directory));
  }
  RunNumbers run{directory, std::move(*recorded), {}, {}};
  const auto functions = run_files::read_functions(directory, notes);
  if (!functions) {
    return tl::unexpected(functions.error());
  }
  for (const profiler::RecordedFunction& row : *functions) {
    FunctionNumbers& function = run.functions[{std::string(base_name(row.module)), row.name}];
    function.self_samples += row.self_samples;
    function.total_samples += row.total_samples;
    if (row.calls) {
      add(function.calls, *row.calls, row.calls_kind);
    }
  }
  if (!run.run.counts_kind.empty()) {
    if (const auto added = add_blocks(run, notes); !added) {
      return tl::unexpected(added.error());
    }
  }
  return run;
}

std::set<std::string> rebuilt_modules(const std::vector<RunNumbers>& before,
                                      const std::vector<RunNumbers>& after) {
  std::map<std::string, std::set<std::string>> builds;
  for (const auto* side : {&before, &after}) {
    for (const RunNumbers& run : *side) {
      for (const profiler::RecordedModule& module : run.run.modules) {
        builds[std::string(base_name(module.path))].insert(module.build_id);
      }
    }
  }
  std::set<std::string> rebuilt;
  for (const auto& [module, ids] : builds) {
    if (ids.size() > 1 || ids.contains("")) {
      rebuilt.insert(module);
    }
  }
  return rebuilt;
}

std::string name_across_builds(const std::string& name, const std::string& module) {
  return name.starts_with(module + "+0x") ? module + "+[no symbol]" : name;
}

void join_unnamed(RunNumbers& run, const std::set<std::string>& modules) {
  std::map<FunctionKey, FunctionNumbers> joined;
  for (auto& [key, numbers] : run.functions) {
    const std::string name =
        modules.contains(key.module) ? name_across_builds(key.name, key.module) : key.name;
    FunctionNumbers& sum = joined[{key.module, name}];
    sum.self_samples += numbers.self_samples;
    // Several of them may be in one stack.
    sum.total_samples += name == key.name ? numbers.total_samples : numbers.self_samples;
    add(sum.calls, numbers.calls);
    add(sum.executions, numbers.executions);
    add(sum.instructions, numbers.instructions);
  }
  run.functions = std::move(joined);
}

}  // namespace sp::diff
