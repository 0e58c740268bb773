#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"
#include "profiler/formats/callgrind_graph.h"
#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::report {

/// A function, a module, or a caller or callee of a function.
struct Row {
  std::string name;
  std::string module;      // "" if unknown, and of modules
  std::string source;      // "file:line", "" if unknown
  std::uint64_t self = 0;  // not of callers and callees
  std::uint64_t total = 0;
  std::optional<std::uint64_t> calls{};
  std::string calls_kind{};  // "" without calls
};

struct Table {
  std::vector<Row> rows;  // sorted
  /// What the shares of samples refer to: those of the run, or of the function asked for.
  std::uint64_t samples = 0;
  std::uint64_t left_out = 0;  // rows below the limit
};

using Sort = cli::Sort;
using Matches = std::function<bool(std::string_view name)>;

/// Of the rows of functions.tsv, those with samples or calls.
[[nodiscard]] std::vector<Row> function_rows(std::span<const profiler::RecordedFunction> functions);
/// A stack counts once in the total of each module that it has a function of.
[[nodiscard]] std::vector<Row> module_rows(profiler::StackSource& stacks);
/// The threads of a run, and the processes that they are of as modules, with their samples.
[[nodiscard]] std::vector<Row> thread_rows(profiler::RecordingReader& recording);
/// Functions that call those with a matching name, or are called by them: samples of stacks in
/// which they do, as `total`, and calls along counted edges. Calls of one function by itself are
/// counted, not sampled.
[[nodiscard]] std::vector<Row> caller_rows(const profiler::CallgrindGraph& graph,
                                           const profiler::RecordedCode* code,
                                           const Matches& matches, bool callers);

/// Sorts rows, and leaves those out whose share in what they are sorted by, or in the total for
/// self, is below `percent_limit`.
[[nodiscard]] Table make_table(std::vector<Row> rows, std::uint64_t samples, Sort sort,
                               double percent_limit);

}  // namespace sp::report
