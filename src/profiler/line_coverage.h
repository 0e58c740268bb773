#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "profiler/coverage.h"
#include "symbols/source_line.h"

namespace sp::profiler {

/// What was reached of source files' lines: the source of lcov's and Cobertura's files.
struct SourceCoverage {
  struct Function {
    std::uint32_t line = 0;
    std::string name;
    std::uint64_t hits = 0;
  };
  /// One way out of a conditional branch. A branch has two, which follow each other.
  struct Branch {
    std::uint32_t line = 0;
    std::uint32_t block = 0;            // the branch's number in its line
    std::uint32_t branch = 0;           // 0: it continues; 1: it is taken
    std::optional<std::uint64_t> hits;  // nothing: the branch itself was not reached
  };
  struct File {
    std::string path;
    std::map<std::uint32_t, std::uint64_t> lines;  // with code: the most hits of its rows
    std::vector<Function> functions;               // by line and name
    std::vector<Branch> branches;                  // by line, block and branch
    bool is_of_libraries = false;                  // all of its code is in libraries of the system
  };

  std::vector<File> files;  // by path
  std::uint64_t functions_without_lines = 0;
  /// Only that they were entered is known (--coverage=function), and not of which lines.
  std::uint64_t functions_of_one_line = 0;

  struct Totals {
    std::uint64_t lines = 0;
    std::uint64_t lines_hit = 0;
    std::uint64_t functions = 0;
    std::uint64_t functions_hit = 0;
    std::uint64_t branches = 0;
    std::uint64_t branches_hit = 0;

    Totals& operator+=(const Totals& other);
  };
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] static Totals totals_of(const File& file);
};

/// Of the function in [begin, end) of a module of the table; Symbolizer::lines_of().
using LinesOf = std::function<symbols::FunctionLines(std::uint32_t module, std::uint64_t begin,
                                                     std::uint64_t end)>;

/// Joins blocks with line tables. A line has the most hits of the blocks in which a row of it
/// begins, 0 where that is in none; that with a function's name has the function's. A branch is
/// given where its ways were counted, or each of them leads to a block that nothing else leads to,
/// so that these tell how often it was taken. Where only functions were looked at, the lines with
/// their names are all that is known.
[[nodiscard]] SourceCoverage source_coverage(const CoverageTable& table, const LinesOf& lines_of);

/// A directory of the sources and where it is now (--source-map A=B).
struct SourceMap {
  std::string from;
  std::string to;
};
/// Replaces the beginnings of paths; the first that fits counts. Returns a note for each of the
/// maps that fits nowhere.
[[nodiscard]] std::vector<std::string> map_sources(SourceCoverage& coverage,
                                                   const std::vector<SourceMap>& maps);

}  // namespace sp::profiler
