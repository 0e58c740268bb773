#include "commands/coverage/coverage_text.h"

#include <gtest/gtest.h>

#include <string>

namespace sp::coverage {
namespace {

using profiler::CoverageTable;

CoverageTable of_one_function(bool is_function) {
  CoverageTable table;
  table.modules = {{"/bin/demo", "ab12"}};
  table.functions = {{0, "main", 0x1000, 0x40}};
  table.rows = {{0, 0x1000, 0x40, 1, "exact", 7, "", is_function, core::Flow::next, {}}};
  return table;
}

profiler::SourceCoverage one_line() {
  profiler::SourceCoverage sources;
  sources.files = {{"/src/demo.c", {{3, 1}}, {{3, "main", 1}}, {}}};
  return sources;
}

TEST(CoverageText, has_functions_blocks_and_lines) {
  EXPECT_EQ(coverage_text(of_one_function(false), one_line()),
            "entered%       functions          blocks  module\n"
            "   100.0             1/1             1/1  /bin/demo\n"
            "\n"
            " lines %           lines       functions     branch ways  file\n"
            "   100.0             1/1             1/1             0/0  /src/demo.c\n"
            "   100.0             1/1             1/1             0/0  (all)\n");
}

TEST(CoverageText, has_functions_alone_where_nothing_else_was_looked_at) {
  EXPECT_EQ(coverage_text(of_one_function(true), one_line()),
            "entered%       functions          blocks  module\n"
            "   100.0             1/1               -  /bin/demo\n"
            "\n"
            " lines %           lines       functions     branch ways  file\n"
            "       -               -             1/1             0/0  /src/demo.c\n"
            "       -               -             1/1             0/0  (all)\n");
}

}  // namespace
}  // namespace sp::coverage
