#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "profiler/formats/drcov.h"
#include "profiler/line_coverage.h"

namespace sp::run_files {

/// "A=B" as --source-map has it. Error: it is none.
[[nodiscard]] core::Result<profiler::SourceMap> parse_source_map(const std::string& text);

struct CoverageOfSources {
  profiler::SourceCoverage sources;
  std::vector<std::string> notes;  // files that are not there any more, maps that fit nothing
};

/// Reads the debug information of the table's files.
[[nodiscard]] CoverageOfSources read_sources(const profiler::CoverageTable& table,
                                             const std::vector<profiler::SourceMap>& maps,
                                             const std::vector<std::string>& debug_directories);

/// One for each module of the table; of files that are not there, from 0 on.
[[nodiscard]] std::vector<profiler::ImageRange> read_images(const profiler::CoverageTable& table);

}  // namespace sp::run_files
