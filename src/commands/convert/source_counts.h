#pragma once

#include <functional>

#include "commands/convert/code_file.h"
#include "core/result.h"
#include "profiler/formats/autofdo.h"
#include "profiler/recorded_run.h"

namespace sp::convert {

struct SourceSums {
  std::uint64_t functions = 0;      // taken
  std::uint64_t without_lines = 0;  // functions without debug information
  std::uint64_t left_out = 0;       // functions that were not counted to the end
};

/// Where the file's debug information is: in itself or in a separate file. Error: nowhere.
[[nodiscard]] core::Result<symbols::ElfSections> debug_sections(const CodeFile& file);

/// Calls `visit` for each counted function of `file`, with all its lines: those that did not run
/// have the count 0; it returns whether it took the function. The file has debug_sections().
SourceSums for_each_source(const CodeFile& file, const profiler::RecordedCode& counts,
                           const std::function<bool(const profiler::CountedSource&)>& visit);

}  // namespace sp::convert
