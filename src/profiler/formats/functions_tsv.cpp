#include "profiler/formats/functions_tsv.h"

#include <algorithm>
#include <iterator>
#include <ostream>
#include <tuple>

#include "profiler/text.h"

namespace sp::profiler {

std::vector<Function> ranked(const std::vector<Function>& functions) {
  std::vector<Function> rows;
  std::copy_if(functions.begin(), functions.end(), std::back_inserter(rows),
               [](const Function& function) {
                 return has_row(function.kind) &&
                        (function.self > 0 || function.total > 0 || function.calls.has_value());
               });
  std::sort(rows.begin(), rows.end(), [](const Function& a, const Function& b) {
    return std::tie(b.self, b.total, b.calls, a.name, a.module) <
           std::tie(a.self, a.total, a.calls, b.name, b.module);
  });
  return rows;
}

void write_functions_tsv(std::ostream& out, const std::vector<Function>& ranked,
                         const CountsContext& context) {
  out << "module\tfunction\tsource\tself_samples\ttotal_samples\tcalls\tcalls_kind\n";
  for (const Function& row : ranked) {
    out << tsv_cell(row.module) << '\t' << tsv_cell(row.name) << '\t' << tsv_cell(row.source)
        << '\t' << row.self << '\t' << row.total << '\t';
    if (row.calls) {
      out << *row.calls << '\t' << context.kind(row.calls_span) << '\n';
    } else {
      out << "\tnot-counted\n";
    }
  }
}

}  // namespace sp::profiler
