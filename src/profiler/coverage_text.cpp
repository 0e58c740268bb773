#include "profiler/coverage_text.h"

#include <fmt/format.h>

#include "profiler/describe.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

std::string share(std::uint64_t part, std::uint64_t whole) {
  return percent_text(static_cast<double>(part), static_cast<double>(whole));
}

}  // namespace

std::string coverage_text(const CoverageTotals& totals,
                          const std::optional<SourceCoverage::Totals>& lines) {
  if (totals.functions == 0) {
    return "coverage: no function was watched: no program got breakpoints; they come once --delay "
           "(-D) is over, and where no note says why not";
  }
  std::string text =
      fmt::format("coverage: {} of {} functions entered ({})", grouped(totals.entered),
                  grouped(totals.functions), share(totals.entered, totals.functions));
  if (totals.blocks > totals.entered) {
    text += fmt::format("; {} of the {} blocks of these reached ({})", grouped(totals.reached),
                        grouped(totals.blocks), share(totals.reached, totals.blocks));
  }
  if (totals.only_functions) {
    text += "; which blocks and lines: --coverage=block";
  } else if (lines) {
    text += fmt::format("; {} of {} lines executed ({})", grouped(lines->lines_hit),
                        grouped(lines->lines), share(lines->lines_hit, lines->lines));
  }
  if (totals.watched_partly > 0) {
    text += fmt::format("; {} that were not reached were not watched to the end ({})",
                        grouped(totals.watched_partly), totals.kind);
  }
  return text;
}

}  // namespace sp::profiler
