#include "profiler/coverage_files.h"

#include <chrono>
#include <memory>
#include <ostream>

#include "core/log.h"
#include "profiler/formats/cobertura.h"
#include "profiler/formats/coverage_tsv.h"
#include "profiler/formats/lcov.h"
#include "profiler/missing_sources.h"

namespace sp::profiler {

CoverageFiles coverage_files(const ProbedProfile& profile, Namer& namer,
                             const CountsContext& context, core::Coverage level,
                             const std::vector<SourceMap>& maps, const std::string& version) {
  CoverageFiles result;
  const auto table =
      std::make_shared<const CoverageTable>(coverage_table(profile, namer, context, level));
  result.totals = totals_of(*table);
  result.files.emplace_back(kCoverageFiles[0],
                            [table](std::ostream& out) { write_coverage_tsv(out, *table); });
  auto sources = std::make_shared<SourceCoverage>(
      source_coverage(*table, [&](std::uint32_t module, std::uint64_t begin, std::uint64_t end) {
        return namer.lines_of(table->modules[module].id, begin, end);
      }));
  if (sources->files.empty()) {
    return result;
  }
  for (const std::string& note : map_sources(*sources, maps)) {
    core::log_note("{}", note);
  }
  if (const std::string note = missing_sources_note(*sources); !note.empty()) {
    core::log_note("{}", note);
  }
  result.lines = sources->totals();
  result.files.emplace_back(kCoverageFiles[1],
                            [sources](std::ostream& out) { write_lcov(out, *sources); });
  result.files.emplace_back(kCoverageFiles[2], [sources, version](std::ostream& out) {
    write_cobertura(out, *sources, {version, std::chrono::system_clock::now()});
  });
  return result;
}

}  // namespace sp::profiler
