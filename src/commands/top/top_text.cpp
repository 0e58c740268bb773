#include "commands/top/top_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "profiler/describe.h"
#include "profiler/text.h"

namespace sp::top {
namespace {

using profiler::elided;
using profiler::folded_name;
using profiler::grouped;

double percent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::string first_line(const Heading& heading, const Table& table) {
  const double share =
      100 * core::seconds(heading.target_cpu) / std::max(core::seconds(table.interval), 1e-6);
  return fmt::format("{} ({}): {}, {:.0f} % CPU, {} {}", folded_name(heading.command),
                     heading.facts.pid, profiler::duration_text(heading.facts.elapsed), share,
                     grouped(heading.facts.threads),
                     heading.facts.threads == 1 ? "thread" : "threads");
}

std::string row_text(const Row& row, const Table& table, bool counts_calls, std::size_t columns) {
  std::string text = fmt::format("{:8.2f} {:8.2f}  ", percent(row.self, table.counts.total()),
                                 percent(row.total, table.counts.with_stack));
  if (counts_calls) {
    text += fmt::format(
        "{:>14}  ", row.calls_per_second
                        ? grouped(static_cast<std::uint64_t>(std::llround(*row.calls_per_second)))
                        : std::string("-"));
  }
  const std::string_view module = profiler::base_name(row.module);
  std::string name = folded_name(row.function);
  if (!row.function.starts_with(std::string(module) + "+0x")) {
    name += fmt::format("  {}", folded_name(module));
  }
  return text + elided(name, columns > text.size() + 8 ? columns - text.size() : 8);
}

}  // namespace

std::string table_text(const Heading& heading, const Table& table, std::size_t lines,
                       std::size_t columns) {
  constexpr std::size_t kHeadLines = 4;
  const auto line = [columns](const std::string& text) { return elided(text, columns) + '\n'; };
  std::string text = line(first_line(heading, table));
  text += line(profiler::sampling_text(heading.facts, table.counts, heading.wall));
  text +=
      line(fmt::format("cost: {}{}", profiler::overhead_text(heading.facts.cost),
                       heading.facts.cost.budget_percent > 0
                           ? fmt::format(" (budget {:.0f} %)", heading.facts.cost.budget_percent)
                           : ""));
  if (table.rows.empty()) {
    return text + line(heading.wall ? "nothing ran or waited in this interval"
                                    : "nothing ran in this interval; --wall shows what waits");
  }
  text += line(
      fmt::format("  self %  total %  {}function", heading.counts_calls ? "       calls/s  " : ""));
  const std::size_t rows = std::min(table.rows.size(), lines > kHeadLines ? lines - kHeadLines : 0);
  for (std::size_t i = 0; i < rows; ++i) {
    text += row_text(table.rows[i], table, heading.counts_calls, columns) + '\n';
  }
  return text;
}

}  // namespace sp::top
