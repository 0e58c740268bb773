#include "commands/coverage/coverage_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/text.h"

namespace sp::coverage {
namespace {

using profiler::CoverageTable;
using profiler::SourceCoverage;

std::string share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0
             ? "-"
             : fmt::format("{:.1f}", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string row(std::string_view name, const SourceCoverage::Totals& totals, bool has_lines) {
  return fmt::format(
      "{:>8} {:>15} {:>15} {:>15}  {}\n", has_lines ? share(totals.lines_hit, totals.lines) : "-",
      has_lines ? fmt::format("{}/{}", totals.lines_hit, totals.lines) : "-",
      fmt::format("{}/{}", totals.functions_hit, totals.functions),
      fmt::format("{}/{}", totals.branches_hit, totals.branches), profiler::folded_name(name));
}

std::string source_rows(const SourceCoverage& sources, bool has_lines) {
  struct FileRow {
    std::string_view path;
    SourceCoverage::Totals totals;
  };
  std::vector<FileRow> rows;
  for (const SourceCoverage::File& file : sources.files) {
    rows.push_back({file.path, SourceCoverage::totals_of(file)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const FileRow& a, const FileRow& b) {
    return a.totals.lines_hit * b.totals.lines < b.totals.lines_hit * a.totals.lines;
  });
  std::string text = fmt::format("{:>8} {:>15} {:>15} {:>15}  {}\n", "lines %", "lines",
                                 "functions", "branch ways", "file");
  for (const FileRow& file : rows) {
    text += row(file.path, file.totals, has_lines);
  }
  return text + row("(all)", sources.totals(), has_lines);
}

std::string module_rows(const CoverageTable& table, bool has_blocks) {
  std::string text =
      fmt::format("{:>8} {:>15} {:>15}  {}\n", "entered%", "functions", "blocks", "module");
  for (std::uint32_t i = 0; i < table.modules.size(); ++i) {
    CoverageTable part;
    for (const CoverageTable::Row& row : table.rows) {
      if (table.functions[row.function].module == i) {
        part.rows.push_back(row);
      }
    }
    part.functions.resize(static_cast<std::size_t>(
        std::count_if(table.functions.begin(), table.functions.end(),
                      [i](const auto& function) { return function.module == i; })));
    const profiler::CoverageTotals totals = totals_of(part);
    text += fmt::format("{:>8} {:>15} {:>15}  {}\n", share(totals.entered, totals.functions),
                        fmt::format("{}/{}", totals.entered, totals.functions),
                        has_blocks ? fmt::format("{}/{}", totals.reached, totals.blocks) : "-",
                        profiler::folded_name(table.modules[i].path));
  }
  return text;
}

}  // namespace

std::string coverage_text(const CoverageTable& table, const SourceCoverage& sources) {
  const bool has_blocks = !is_of_functions(table);
  std::string text = module_rows(table, has_blocks);
  if (!sources.files.empty()) {
    text += "\n" + source_rows(sources, has_blocks);
  }
  return text;
}

}  // namespace sp::coverage
