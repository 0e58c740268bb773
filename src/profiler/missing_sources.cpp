#include "profiler/missing_sources.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <system_error>

namespace sp::profiler {
namespace {

bool is_here(const SourceCoverage::File& file) {
  std::error_code error;
  return std::filesystem::exists(file.path, error);
}

}  // namespace

void leave_out_missing_libraries(SourceCoverage& coverage) {
  std::erase_if(coverage.files, [](const SourceCoverage::File& file) {
    return file.is_of_libraries && !is_here(file);
  });
}

std::string missing_sources_note(const SourceCoverage& coverage) {
  std::size_t missing = 0;
  const SourceCoverage::File* first = nullptr;
  for (const SourceCoverage::File& file : coverage.files) {
    if (!is_here(file)) {
      first = first == nullptr ? &file : first;
      ++missing;
    }
  }
  return first == nullptr
             ? std::string()
             : fmt::format(
                   "source files of the report are not here ({} of {}), such as {}; say where they "
                   "are with --source-map FROM=TO, or use genhtml --ignore-errors source",
                   missing, coverage.files.size(), first->path);
}

}  // namespace sp::profiler
