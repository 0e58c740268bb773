#include "commands/report/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace sp::report {
namespace {

using profiler::CallgrindGraph;
using profiler::RecordedFunction;

constexpr std::string_view kExact = "exact";
/// Of sums of which a part was not counted to the end.
constexpr std::string_view kMixed = "mixed";

std::string source_of(std::string_view file, std::uint64_t line) {
  return line > 0 ? fmt::format("{}:{}", file, line) : std::string(file);
}

void add_calls(Row& row, std::uint64_t calls, bool to_the_end) {
  row.calls = row.calls.value_or(0) + calls;
  if (row.calls_kind != kMixed) {
    row.calls_kind = to_the_end ? kExact : kMixed;
  }
}

std::uint64_t key_of(const Row& row, Sort sort) {
  switch (sort) {
    case Sort::self:
      return row.self;
    case Sort::total:
      return row.total;
    case Sort::calls:
    case Sort::max:
      break;
  }
  return row.calls.value_or(0);
}

}  // namespace

std::vector<Row> function_rows(std::span<const RecordedFunction> functions) {
  std::vector<Row> rows;
  for (const RecordedFunction& function : functions) {
    if (function.self_samples > 0 || function.total_samples > 0 || function.calls) {
      rows.push_back({function.name, function.module, source_of(function.file, function.line),
                      function.self_samples, function.total_samples, function.calls,
                      function.calls_kind});
    }
  }
  return rows;
}

std::vector<Row> module_rows(profiler::StackSource& stacks) {
  std::map<std::string_view, Row> modules;
  const auto functions = stacks.functions();
  for (const RecordedFunction& function : functions) {
    Row& row = modules[function.module];
    row.self += function.self_samples;
    if (function.calls) {
      add_calls(row, *function.calls, function.calls_kind == kExact);
    }
  }
  std::set<std::string_view> seen;
  stacks.for_each([&](std::span<const std::uint32_t> frames, std::uint64_t samples) {
    seen.clear();
    for (const std::uint32_t frame : frames) {
      if (seen.insert(functions[frame].module).second) {
        modules[functions[frame].module].total += samples;
      }
    }
  });
  std::vector<Row> rows;
  for (auto& [name, row] : modules) {
    if (row.self > 0 || row.total > 0 || row.calls) {
      row.name = name.empty() ? "[unknown]" : name;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<Row> thread_rows(profiler::RecordingReader& recording) {
  std::vector<Row> rows;
  for (const profiler::RecordingThread& thread : recording.threads()) {
    Row row;
    row.name = thread.id.tid == 0 ? std::string(thread.name)
                                  : fmt::format("{} ({})", thread.name, thread.id.tid);
    row.module = fmt::format("pid {}", thread.process.pid);
    rows.push_back(std::move(row));
  }
  recording.for_each_sample([&](const profiler::RecordingSample& sample) {
    if (sample.thread < rows.size()) {
      rows[sample.thread].total += sample.weight;
    }
  });
  std::erase_if(rows, [](const Row& row) { return row.total == 0; });
  return rows;
}

std::vector<Row> caller_rows(const CallgrindGraph& graph, const profiler::RecordedCode* code,
                             const Matches& matches, bool callers) {
  const auto& nodes = graph.nodes();
  std::vector<bool> is_meant;
  is_meant.reserve(nodes.size());
  for (const CallgrindGraph::Node& node : nodes) {
    is_meant.push_back(matches(node.name));
  }
  std::map<std::uint32_t, Row> found;
  for (std::uint32_t from = 0; from < nodes.size(); ++from) {
    for (const auto& [to, call] : graph.sampled_calls(from)) {
      if (is_meant[callers ? to : from]) {
        found[callers ? from : to].total += call.samples;
      }
    }
  }
  for (const CallgrindGraph::Call& call : graph.calls()) {
    const std::uint32_t from = code->blocks[call.block].function;
    if (is_meant[callers ? call.to_node : from] && call.calls > 0) {
      add_calls(found[callers ? from : call.to_node], call.calls, call.to_the_end);
    }
  }
  std::vector<Row> rows;
  for (auto& [number, row] : found) {
    const CallgrindGraph::Node& node = nodes[number];
    row.name = node.name;
    row.module = node.module;
    row.source = source_of(node.file, node.line);
    rows.push_back(std::move(row));
  }
  return rows;
}

Table make_table(std::vector<Row> rows, std::uint64_t samples, Sort sort, double percent_limit) {
  std::uint64_t whole = samples;
  if (sort == Sort::calls) {
    whole = 0;
    for (const Row& row : rows) {
      whole += row.calls.value_or(0);
    }
  }
  std::sort(rows.begin(), rows.end(), [sort](const Row& a, const Row& b) {
    const auto order = [sort](const Row& row) {
      return std::tuple(key_of(row, sort), row.total, row.self, row.calls.value_or(0));
    };
    return order(a) != order(b) ? order(a) > order(b)
                                : std::tie(a.name, a.module) < std::tie(b.name, b.module);
  });
  const double least = percent_limit / 100 * static_cast<double>(whole);
  const auto is_below = [&](const Row& row) {
    const std::uint64_t share = sort == Sort::calls ? key_of(row, sort) : row.total;
    return static_cast<double>(share) < least;
  };
  const auto left_out = std::erase_if(rows, is_below);
  return {std::move(rows), samples, left_out};
}

}  // namespace sp::report
