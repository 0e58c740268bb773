#pragma once

#include <string>
#include <vector>

#include "profiler/formats/drcov.h"
#include "profiler/line_coverage.h"

namespace sp::run_files {

/// The values of --source-map, "A=B", which the command line has checked.
[[nodiscard]] std::vector<profiler::SourceMap> source_maps(const std::vector<std::string>& texts);

struct CoverageOfSources {
  profiler::SourceCoverage sources;
  std::vector<std::string> missing;  // files that are not there as they were recorded
  std::vector<std::string> notes;    // files that are not there any more, lines not seen, ..
};

/// Reads the debug information of the table's files.
[[nodiscard]] CoverageOfSources read_sources(const profiler::CoverageTable& table,
                                             const std::vector<profiler::SourceMap>& maps,
                                             const std::vector<std::string>& debug_directories);

/// One for each module of the table; with the end 0 for those whose files are not there as they
/// were.
[[nodiscard]] std::vector<profiler::ImageRange> read_images(const profiler::CoverageTable& table);

}  // namespace sp::run_files
