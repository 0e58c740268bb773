#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/coverage.h"
#include "core/result.h"
#include "profiler/coverage.h"

/// Reads coverage.tsv.
namespace sp::run_files {

/// The file, or that of the run in a directory. Damage is added to `notes`; the rows before it are
/// read. Error: there is none, or it is something else.
[[nodiscard]] core::Result<profiler::CoverageTable> read_coverage(const std::string& run,
                                                                  std::vector<std::string>& notes);

/// What earlier runs have reached. A file's identity is its ElfImage::identity().
class KnownCoverage {
 public:
  /// `run`: its name for the user.
  void add(const std::string& run, profiler::CoverageTable table);
  [[nodiscard]] std::vector<core::ReachedRange> reached_in(const std::string& identity) const;
  /// For each of the runs that have another build of the file alone, a text that says so.
  [[nodiscard]] std::vector<std::string> other_builds(const std::string& path,
                                                      const std::string& identity) const;
  /// For each of the runs that have none of these files, by path or identity, a text that says so.
  [[nodiscard]] std::vector<std::string> of_other_files(
      const std::set<std::pair<std::string, std::string>>& files) const;

 private:
  struct Run {
    std::string name;
    profiler::CoverageTable table;
  };
  static bool has(const Run& run, const std::string& identity);

  std::vector<Run> runs_;
};

}  // namespace sp::run_files
