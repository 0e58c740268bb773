#include "commands/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "commands/report/html.h"
#include "commands/report/report_text.h"
#include "commands/report/tables.h"
#include "commands/report/trace_report.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/pager.h"
#include "commands/run_files/recording_file.h"
#include "commands/run_files/similar_names.h"
#include "core/log.h"
#include "core/progress_line.h"
#include "profiler/text.h"
#include "symbols/code_selection.h"

namespace sp::report {
namespace {

using core::Result;

constexpr int kUsage = 2;
constexpr int kFailure = 125;

struct Input {
  profiler::RecordedRun run;
  std::unique_ptr<run_files::RunStacks> stacks;
  std::vector<std::string> notes;
};

Result<Input> read_input(const std::string& directory) {
  auto run = run_files::read_run(directory);
  if (!run) {
    return tl::unexpected(run.error());
  }
  Input input{std::move(*run), nullptr, {}};
  auto stacks = run_files::read_stacks(directory, input.notes);
  if (!stacks) {
    return tl::unexpected(stacks.error());
  }
  input.stacks = std::move(*stacks);
  return input;
}

int fail(const core::Error& error, int status = kFailure) {
  core::print_error(error.message());
  return status;
}

/// The samples of the functions with a matching name: of a stack with several of them, once.
std::uint64_t samples_with(profiler::StackSource& stacks, const Matches& matches) {
  std::vector<bool> is_meant;
  for (const profiler::RecordedFunction& function : stacks.functions()) {
    is_meant.push_back(matches(function.name));
  }
  std::uint64_t sum = 0;
  stacks.for_each([&](std::span<const std::uint32_t> frames, std::uint64_t samples) {
    const bool has_one =
        std::any_of(frames.begin(), frames.end(), [&](auto frame) { return is_meant[frame]; });
    sum += has_one ? samples : 0;
  });
  return sum;
}

struct Content {
  std::vector<Row> rows;
  std::uint64_t samples = 0;
  std::string of;
};

Result<Content> callers_or_callees(const cli::ReportOptions& options, const std::string& directory,
                                   Input& input) {
  const bool callers = !options.callers.empty();
  const std::string& asked = callers ? options.callers : options.callees;
  const symbols::CodeSelection selection{{asked}};
  if (const auto valid = symbols::check_selection(selection); !valid) {
    return tl::unexpected(valid.error());
  }
  const symbols::FunctionMatcher matcher(selection);
  const Matches matches = [&](std::string_view name) { return matcher.matches(name); };
  const auto all = function_rows(input.stacks->rows());
  if (std::none_of(all.begin(), all.end(), [&](const Row& row) { return matches(row.name); })) {
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const Row& row : all) {
      names.push_back(row.name);
    }
    const auto similar = run_files::similar_names(names, asked);
    return core::fail(fmt::format("no function of the run is called '{}'; {}", asked,
                                  similar.empty()
                                      ? "superprofiler report --percent-limit 0 shows all"
                                      : fmt::format("there are: {}", fmt::join(similar, ", "))));
  }
  std::optional<profiler::RecordedCode> code;
  if (!input.run.counts_kind.empty()) {
    auto read = run_files::read_code(directory, input.notes);
    if (!read) {
      return tl::unexpected(read.error());
    }
    code = std::move(*read);
  }
  const profiler::RecordedCode* const counted = code ? &*code : nullptr;
  const profiler::CallgrindGraph graph(counted, *input.stacks);
  return Content{caller_rows(graph, counted, matches, callers),
                 samples_with(*input.stacks, matches),
                 fmt::format("{} of {}", callers ? "callers" : "callees", asked)};
}

Result<Content> threads(const std::string& directory, Input& input) {
  auto recording = run_files::open_recording(directory);
  if (!recording) {
    return tl::unexpected(recording.error());
  }
  const profiler::RecordingSamples kept = recording->reader.samples();
  if (kept.stride > 1) {
    input.notes.push_back(
        fmt::format("of {} samples one was kept with its thread: the numbers are of these",
                    profiler::grouped(kept.stride)));
  }
  Content content{thread_rows(recording->reader), kept.weight, "threads"};
  if (!recording->reader.damage().empty()) {
    input.notes.push_back(recording->reader.damage());
  }
  return content;
}

}  // namespace

int run(const cli::ReportOptions& options) {
  const auto directory = run_files::named_or_newest_run(options.run);
  if (!directory) {
    return fail(directory.error());
  }
  if (options.html) {
    return report_html(options, *directory);
  }
  if (options.trace) {
    return report_trace(options, *directory);
  }
  std::optional<core::ProgressLine> progress(std::in_place, "reading " + *directory);
  auto input = read_input(*directory);
  if (!input) {
    return fail(input.error());
  }
  Content content{{}, input->run.samples, options.by_module ? "modules" : "functions"};
  Sort sort = options.sort.value_or(input->run.samples > 0 ? Sort::self : Sort::calls);
  const bool is_of_functions = options.callers.empty() && options.callees.empty();
  const bool has_self = is_of_functions && !options.by_thread;
  if (options.by_thread) {
    auto of_threads = threads(*directory, *input);
    if (!of_threads) {
      return fail(of_threads.error());
    }
    content = std::move(*of_threads);
    sort = Sort::total;
  } else if (is_of_functions) {
    content.rows =
        options.by_module ? module_rows(*input->stacks) : function_rows(input->stacks->rows());
  } else {
    auto asked = callers_or_callees(options, *directory, *input);
    if (!asked) {
      return fail(asked.error(), kUsage);
    }
    content = std::move(*asked);
    sort = options.sort.value_or(input->run.samples > 0 ? Sort::total : Sort::calls);
  }
  const Table table =
      make_table(std::move(content.rows), content.samples, sort, options.percent_limit);
  const Title title{input->run.command, input->run.sampling(), content.of, input->run.counts_kind,
                    has_self,           !options.by_module};
  progress.reset();  // stdout may be the same terminal
  if (options.json) {
    write_json(std::cout, title, table);
  }
  const bool is_shown =
      options.json ? static_cast<bool>(std::cout.flush())
                   : run_files::show([&](std::ostream& out) { write_text(out, title, table); });
  if (!is_shown) {
    return fail({"writing to stdout failed"});
  }
  run_files::print_notes(input->notes, *input->stacks, "the table");
  return 0;
}

}  // namespace sp::report
