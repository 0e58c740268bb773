#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "profiler/line_coverage.h"

namespace sp::profiler {

struct CoberturaHeading {
  std::string version;  // of superprofiler
  std::chrono::system_clock::time_point time;
};

/// cobertura.xml by coverage-04.dtd: a package for each directory, a class for each source file.
void write_cobertura(std::ostream& out, const SourceCoverage& coverage,
                     const CoberturaHeading& heading);

}  // namespace sp::profiler
