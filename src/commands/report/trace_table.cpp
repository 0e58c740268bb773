#include "commands/report/trace_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "profiler/trace/trace_names.h"
#include "profiler/trace/traced_span.h"

namespace sp::report {
namespace {

using profiler::TraceClosing;
using profiler::TracedCall;

/// Durations are not negative; what a damaged file says may be.
std::uint64_t length(std::int64_t ns) { return ns < 0 ? 0 : static_cast<std::uint64_t>(ns); }

bool is_whole(TraceClosing closing) {
  return closing != TraceClosing::entered_before && closing != TraceClosing::at_end &&
         closing != TraceClosing::across_loss;
}

std::uint64_t trace_key(const TraceRow& row, cli::Sort sort) {
  switch (sort) {
    case cli::Sort::self:
      return row.self_ns;
    case cli::Sort::total:
      return row.total_ns;
    case cli::Sort::calls:
      return row.calls;
    case cli::Sort::max:
      break;
  }
  return row.durations.most();
}

void name_function(TraceRow& row, const profiler::TraceReader& trace, std::uint32_t number) {
  row.name = trace_function_name(trace, number);
  row.module = trace_module_path(trace, number);
  const profiler::TraceFunction* const function = trace.function(number);
  if (function != nullptr && !function->file.empty()) {
    row.source = function->line > 0 ? fmt::format("{}:{}", function->file, function->line)
                                    : std::string(function->file);
  }
}

void name_thread(TraceRow& row, const profiler::TraceReader& trace, std::uint32_t number) {
  const profiler::RecordingThread* const thread = trace.thread(number);
  row.name = thread == nullptr ? fmt::format("thread {}", number)
                               : fmt::format("{} ({})", thread->name, thread->id.tid);
  row.module = thread == nullptr ? std::string() : fmt::format("pid {}", thread->process.pid);
}

/// A thread calls all functions.
std::string kind_of_all(const profiler::TraceReader& trace, bool misses_some) {
  std::optional<std::string> all;
  for (const std::uint32_t number : trace.function_numbers()) {
    std::string kind = traced_kind(trace, number, misses_some);
    if (all && *all != kind) {
      return std::string(profiler::kMixedCalls);
    }
    all = std::move(kind);
  }
  return all.value_or("exact");
}

}  // namespace

void TraceSums::begin(const TracedCall& call) { ++open_[{call.thread, call.stack}][call.function]; }

void TraceSums::end(const TracedCall& call) {
  const std::uint64_t duration = length(call.duration_ns());
  TraceRow& row = rows_[by_thread_ ? call.thread : call.function];
  ++row.calls;
  row.self_ns += length(call.self_ns);
  ++row.closings[static_cast<std::size_t>(call.closing)];
  if (is_whole(call.closing)) {
    row.durations.add(duration);
    row.durations_ns += duration;
  }
  total_ns_ += call.depth == 0 ? duration : 0;
  auto& open = open_[{call.thread, call.stack}];
  const auto calls = open.find(call.function);
  --calls->second;
  const bool is_outermost = by_thread_ ? call.depth == 0 : calls->second == 0;
  row.total_ns += is_outermost ? duration : 0;
  if (calls->second == 0) {
    open.erase(calls);
  }
  if (open.empty()) {
    open_.erase({call.thread, call.stack});
  }
}

TraceTable TraceSums::table(const profiler::TraceReader& trace, cli::Sort sort,
                            double percent_limit, bool misses_some) const {
  TraceTable table;
  table.total_ns = total_ns_;
  const std::string of_all = kind_of_all(trace, misses_some);
  for (const auto& [number, sums] : rows_) {
    TraceRow row = sums;
    by_thread_ ? name_thread(row, trace, number) : name_function(row, trace, number);
    row.kind = by_thread_ ? of_all : traced_kind(trace, number, misses_some);
    table.calls += row.calls;
    table.rows.push_back(std::move(row));
  }
  std::sort(table.rows.begin(), table.rows.end(), [sort](const TraceRow& a, const TraceRow& b) {
    const auto order = [sort](const TraceRow& row) {
      return std::tuple(trace_key(row, sort), row.total_ns, row.calls);
    };
    return order(a) != order(b) ? order(a) > order(b)
                                : std::tie(a.name, a.module) < std::tie(b.name, b.module);
  });
  const bool by_calls = sort == cli::Sort::calls;
  const double least =
      percent_limit / 100 * static_cast<double>(by_calls ? table.calls : table.total_ns);
  table.left_out = std::erase_if(table.rows, [&](const TraceRow& row) {
    return static_cast<double>(by_calls ? row.calls : row.total_ns) < least;
  });
  return table;
}

}  // namespace sp::report
