#include "profiler/formats/lcov.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

/// The format has no escapes; a line is one record.
std::string record_text(std::string_view text) { return folded_blanks(utf8_text(text)); }

/// lcov and genhtml take a name to end at a comma.
std::string name_text(std::string_view name) {
  std::string text = record_text(name);
  std::replace(text.begin(), text.end(), ',', ';');
  return text;
}

void write_functions(std::ostream& out, const SourceCoverage::File& file) {
  for (const SourceCoverage::Function& function : file.functions) {
    out << fmt::format("FN:{},{}\n", function.line, name_text(function.name));
  }
  for (const SourceCoverage::Function& function : file.functions) {
    out << fmt::format("FNDA:{},{}\n", function.hits, name_text(function.name));
  }
}

}  // namespace

void write_lcov(std::ostream& out, const SourceCoverage& coverage) {
  for (const SourceCoverage::File& file : coverage.files) {
    const SourceCoverage::Totals totals = SourceCoverage::totals_of(file);
    out << "TN:\nSF:" << record_text(file.path) << '\n';
    write_functions(out, file);
    out << fmt::format("FNF:{}\nFNH:{}\n", totals.functions, totals.functions_hit);
    for (const SourceCoverage::Branch& branch : file.branches) {
      out << fmt::format("BRDA:{},{},{},{}\n", branch.line, branch.block, branch.branch,
                         branch.hits ? fmt::format("{}", *branch.hits) : "-");
    }
    out << fmt::format("BRF:{}\nBRH:{}\n", totals.branches, totals.branches_hit);
    for (const auto& [line, hits] : file.lines) {
      out << fmt::format("DA:{},{}\n", line, hits);
    }
    out << fmt::format("LF:{}\nLH:{}\nend_of_record\n", totals.lines, totals.lines_hit);
  }
}

}  // namespace sp::profiler
