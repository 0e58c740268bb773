#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/coverage.h"
#include "core/result.h"
#include "profiler/coverage.h"

/// Reads coverage.tsv.
namespace sp::run_files {

/// The file, or that of the run in a directory. Errors: there is none, or it is damaged.
[[nodiscard]] core::Result<profiler::CoverageTable> read_coverage(const std::string& run);

/// What earlier runs have reached.
class KnownCoverage {
 public:
  void add(const profiler::CoverageTable& table);
  /// Of the file with this ElfImage::identity().
  [[nodiscard]] std::vector<core::ReachedRange> reached_in(const std::string& identity) const;

 private:
  std::map<std::string, std::vector<core::ReachedRange>> by_file_;
};

}  // namespace sp::run_files
