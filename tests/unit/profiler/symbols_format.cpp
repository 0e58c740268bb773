#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "golden.h"
#include "profiler/formats/symbols_tsv.h"

namespace sp::profiler {
namespace {

std::vector<SymbolRow> symbol_rows() {
  SymbolRow traced;
  traced.id = 0x89ABCDEF00001140;
  traced.module = "/opt/a \"quoted\"; b/prog";
  traced.build_id = "0123abcd";
  traced.offset = 0x1140;
  traced.size = 40;
  traced.linkage_name = "_ZN2ns3fooEii";
  traced.demangled_name = "ns::foo(int, int)";
  traced.file = "/src/a\tb.cc";
  traced.line = 12;
  traced.instructions = 10;
  traced.place = "breakpoint";
  traced.is_instrumented = true;
  traced.reason = "allow:hot, and named";
  traced.xray_id = 7;
  traced.since = 0.25;
  traced.until = 1.0004;
  SymbolRow left_out;
  left_out.id = 0x2000;
  left_out.module = "/lib/x.so";
  left_out.offset = 0x2000;
  left_out.demangled_name = "x.so+0x2000";
  left_out.reason = "no-bounds";
  return {traced, left_out};
}

TEST(SymbolsTsv, has_a_row_for_each_function) {
  std::ostringstream out;
  write_symbols_tsv(out, symbol_rows());
  test::expect_golden("symbols.tsv", out.str());
}

TEST(SymbolsTsv, is_quoted_for_the_separator_that_is_asked_for) {
  std::ostringstream out;
  write_symbols_csv(out, symbol_rows(), ';');
  test::expect_golden("symbols.csv", out.str());
}

}  // namespace
}  // namespace sp::profiler
