#include "profiler/formats/functions_csv.h"

#include <fmt/format.h>

#include <ostream>

#include "profiler/text.h"

namespace sp::profiler {

void write_functions_csv(std::ostream& out, std::span<const RecordedFunction> rows) {
  out << "module,function,source,self_samples,total_samples,calls,calls_kind\n";
  for (const RecordedFunction& row : rows) {
    out << csv_cell(row.module) << ',' << csv_cell(row.name) << ','
        << csv_cell(row.line > 0 ? fmt::format("{}:{}", row.file, row.line) : row.file) << ','
        << row.self_samples << ',' << row.total_samples << ',';
    if (row.calls) {
      out << *row.calls;
    }
    out << ',' << csv_cell(row.calls_kind) << '\n';
  }
}

}  // namespace sp::profiler
