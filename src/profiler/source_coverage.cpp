#include <fmt/format.h>

#include <algorithm>

#include "profiler/line_coverage.h"

namespace sp::profiler {

SourceCoverage::Totals SourceCoverage::totals_of(const File& file) {
  Totals totals;
  totals.lines = file.lines.size();
  for (const auto& [line, hits] : file.lines) {
    totals.lines_hit += hits > 0 ? 1 : 0;
  }
  totals.functions = file.functions.size();
  for (const Function& function : file.functions) {
    totals.functions_hit += function.hits > 0 ? 1 : 0;
  }
  totals.branches = file.branches.size();
  for (const Branch& branch : file.branches) {
    totals.branches_hit += branch.hits.value_or(0) > 0 ? 1 : 0;
  }
  return totals;
}

SourceCoverage::Totals& SourceCoverage::Totals::operator+=(const Totals& other) {
  lines += other.lines;
  lines_hit += other.lines_hit;
  functions += other.functions;
  functions_hit += other.functions_hit;
  branches += other.branches;
  branches_hit += other.branches_hit;
  return *this;
}

SourceCoverage::Totals SourceCoverage::totals() const {
  Totals sum;
  for (const File& file : files) {
    sum += totals_of(file);
  }
  return sum;
}

std::vector<std::string> map_sources(SourceCoverage& coverage, const std::vector<SourceMap>& maps) {
  std::vector<std::uint64_t> files(maps.size());
  for (SourceCoverage::File& file : coverage.files) {
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const std::string& from = maps[i].from;
      const bool fits =
          file.path.starts_with(from) &&
          (file.path.size() == from.size() || from.ends_with('/') || file.path[from.size()] == '/');
      if (fits) {
        file.path = maps[i].to + file.path.substr(from.size());
        ++files[i];
        break;
      }
    }
  }
  std::sort(coverage.files.begin(), coverage.files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (files[i] == 0) {
      notes.push_back(fmt::format("--source-map {}={}: no source is in {}", maps[i].from,
                                  maps[i].to, maps[i].from));
    }
  }
  return notes;
}

}  // namespace sp::profiler
