#include "commands/diff/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands/diff/comparison.h"
#include "commands/diff/diff_text.h"
#include "commands/diff/difference_flame.h"
#include "commands/diff/rules.h"
#include "commands/diff/run_numbers.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/output_file.h"
#include "commands/run_files/pager.h"
#include "commands/run_files/tsv_file.h"
#include "core/log.h"
#include "core/progress_line.h"
#include "profiler/describe.h"
#include "profiler/text.h"

namespace sp::diff {
namespace {

using core::Result;
using Runs = std::vector<RunNumbers>;

constexpr int kBroken = 1;
constexpr int kUsage = 2;
constexpr int kFailure = 125;

int fail(const core::Error& error, int status = kFailure) {
  core::print_error(error.message());
  return status;
}

/// The directories of "A1,A2". A directory's own name may have a comma.
std::vector<std::string> directories(std::string_view typed) {
  std::error_code none;
  if (std::filesystem::is_directory(typed, none)) {
    return {std::string(typed)};
  }
  std::vector<std::string> names;
  while (!typed.empty()) {
    if (const std::string_view name = run_files::cut(typed, ','); !name.empty()) {
      names.emplace_back(name);
    }
  }
  return names.empty() ? std::vector<std::string>{","} : names;
}

Result<Runs> read_side(const std::string& typed, std::vector<std::string>& notes) {
  Runs runs;
  for (const std::string& directory : directories(typed)) {
    auto run = read_numbers(directory, notes);
    if (!run) {
      return tl::unexpected(run.error());
    }
    runs.push_back(std::move(*run));
  }
  return runs;
}

/// What is not the same on both sides, or not compared.
std::vector<std::string> differences_of_runs(const Runs& before, const Runs& after,
                                             const Comparison& comparison) {
  std::vector<std::string> notes;
  Runs const* const sides[] = {&before, &after};
  const std::string program(profiler::base_name(before.front().run.program));
  const auto some = [&](const auto& holds) {
    return std::any_of(std::begin(sides), std::end(sides), [&](const Runs* side) {
      return std::any_of(side->begin(), side->end(), holds);
    });
  };
  for (const RunNumbers& run : after) {
    if (profiler::base_name(run.run.program) != program) {
      notes.push_back(
          fmt::format("the runs are of different programs, {} and {}; functions are compared by "
                      "name all the same",
                      program, profiler::base_name(run.run.program)));
      break;
    }
  }
  const bool some_sampled = some([](const RunNumbers& run) { return run.is_sampled(); });
  const bool some_counted =
      some([](const RunNumbers& run) { return !run.run.counts_kind.empty(); });
  if (some_sampled && !comparison.sampled) {
    notes.emplace_back("samples are not compared: not all of the runs were sampled");
  }
  if (some_counted && !comparison.counted) {
    notes.emplace_back("counts are not compared: not all of the runs counted (-n)");
  }
  if (some([&](const RunNumbers& run) { return run.run.wall != before.front().run.wall; })) {
    notes.emplace_back("blocked time is not compared: not all of the runs have --wall");
  }
  if (comparison.incomparable > 0 && !comparison.same_runs) {
    notes.push_back(fmt::format(
        "{} functions have counts that are not compared, because they do not cover the same time "
        "in all runs; record with -a or --single to count to the end",
        profiler::grouped(comparison.incomparable)));
  }
  if (comparison.sampled && before.size() + after.size() == 2 && !comparison.same_runs) {
    notes.emplace_back(
        "of one run a side, the bounds have no noise between runs; for that, record several and "
        "give all: diff A1,A2,A3 B1,B2,B3");
  }
  return notes;
}

Result<std::vector<RunStacks>> read_stacks(const Runs& runs, std::vector<std::string>& notes) {
  std::vector<RunStacks> all;
  for (const RunNumbers& run : runs) {
    auto stacks = run_files::read_stacks(run.directory, notes);
    if (!stacks) {
      return tl::unexpected(stacks.error());
    }
    if (!(*stacks)->damage().empty()) {
      notes.push_back((*stacks)->damage());
    }
    all.push_back({std::move(*stacks), run.ns_per_stack()});
  }
  return all;
}

/// Writes the flame graph and says where it is.
Result<void> write_flame(const cli::DiffOptions& options, const Runs& before, const Runs& after,
                         const std::set<std::string>& rebuilt, std::vector<std::string>& notes) {
  const auto has_stacks = [](const RunNumbers& run) { return run.ns_per_stack() > 0; };
  if (!std::all_of(before.begin(), before.end(), has_stacks) ||
      !std::all_of(after.begin(), after.end(), has_stacks)) {
    return core::fail("--flame needs stacks in all runs; record them without --single");
  }
  const auto old_stacks = read_stacks(before, notes);
  if (!old_stacks) {
    return tl::unexpected(old_stacks.error());
  }
  const auto new_stacks = read_stacks(after, notes);
  if (!new_stacks) {
    return tl::unexpected(new_stacks.error());
  }
  const DifferenceFlame flame = difference_flame(*old_stacks, *new_stacks, rebuilt);
  const std::string path =
      options.output.empty() ? after.front().directory + "/diff.svg" : options.output;
  const profiler::FlameHeading heading{
      fmt::format("{} compared with {}", options.after, options.before),
      fmt::format("{}; width: {}, colour: the change of CPU time since {}; {:.1f} % of {} are in "
                  "stacks that are gone",
                  after.front().run.command, options.after, options.before, 100 * flame.gone,
                  options.before)};
  const auto written = run_files::write_output(path, [&](std::ostream& out) {
    profiler::write_flamegraph_svg(out, flame.profile, heading, &flame.before);
  });
  if (!written) {
    return tl::unexpected(written.error());
  }
  if (path != "-") {
    notes.push_back("next: xdg-open " + profiler::command_text({path}));
  }
  return {};
}

}  // namespace

int run(const cli::DiffOptions& options) {
  if (const auto valid = check_rules(options.rules); !valid) {
    return fail(valid.error(), kUsage);
  }
  std::vector<std::string> notes;
  std::optional<core::ProgressLine> progress(std::in_place, "comparing runs");
  auto before = read_side(options.before, notes);
  auto after = before ? read_side(options.after, notes) : before;
  if (!before || !after) {
    return fail(!before ? before.error() : after.error());
  }
  const std::set<std::string> rebuilt = rebuilt_modules(*before, *after);
  for (Runs* side : {&*before, &*after}) {
    for (RunNumbers& numbers : *side) {
      join_unnamed(numbers, rebuilt);
    }
  }
  const Comparison comparison = compare(*before, *after);
  const Judgement judgement = judge(comparison, options.rules);
  const Shown shown{*before, *after, comparison, options.limit};
  bool is_shown = true;
  progress.reset();  // stdout may be the same terminal
  if (options.json) {
    write_json(std::cout, shown, judgement.broken);
    is_shown = static_cast<bool>(std::cout.flush());
  } else if (options.output != "-") {
    is_shown = run_files::show([&](std::ostream& out) { write_text(out, shown); });
  }
  if (!is_shown) {
    return fail({"writing to stdout failed"});
  }
  for (const auto& some : {differences_of_runs(*before, *after, comparison), judgement.notes}) {
    notes.insert(notes.end(), some.begin(), some.end());
  }
  if (options.flame) {
    if (const auto written = write_flame(options, *before, *after, rebuilt, notes); !written) {
      return fail(written.error());
    }
  }
  for (const std::string& note : notes) {
    core::print_note(note);
  }
  for (const std::string& line : judgement.broken) {
    core::print_error(line);
  }
  return judgement.broken.empty() ? 0 : kBroken;
}

}  // namespace sp::diff
