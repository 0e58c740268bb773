// Source files of a report that are not on this machine.
#include "profiler/missing_sources.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/line_coverage.h"

namespace sp::profiler {
namespace {

/// Two functions, of a program and of a library, in a file of their own each, and in one of both.
SourceCoverage coverage_of(const std::string& library, const std::string& of_library) {
  CoverageTable table;
  table.modules = {{"/home/me/demo", "ab12"}, {library, "cd34"}};
  table.functions = {{0, "main", 0x1000, 0x20}, {1, "f", 0x1000, 0x20}};
  table.rows = {{0, 0x1000, 0x20, 1, "exact", 7, "", false, core::Flow::ret, {}},
                {1, 0x1000, 0x20, 1, "exact", 7, "", false, core::Flow::ret, {}}};
  return source_coverage(table, [&](std::uint32_t module, std::uint64_t, std::uint64_t) {
    return symbols::FunctionLines{3,
                                  false,
                                  false,
                                  {{0x1000, 0x1010, {module == 0 ? "/gone/demo.c" : of_library, 3}},
                                   {0x1010, 0x1020, {"/gone/both.h", 4}}}};
  });
}

TEST(MissingSources, are_told_once) {
  EXPECT_EQ(
      missing_sources_note(coverage_of("/usr/lib/libf.so.1", "/proc/self/exe")),
      "source files of the report are not here (2 of 3), such as /gone/both.h; say where they "
      "are with --source-map FROM=TO, or use genhtml --ignore-errors source");
  EXPECT_EQ(missing_sources_note({}), "");
}

TEST(MissingSources, are_left_out_of_libraries_alone) {
  const auto paths_with = [](const std::string& library, const std::string& source) {
    SourceCoverage coverage = coverage_of(library, source);
    leave_out_missing_libraries(coverage);
    std::string paths;
    for (const SourceCoverage::File& file : coverage.files) {
      paths += file.path + ' ';
    }
    return paths;
  };
  // What the program has of it, too, is the program's.
  EXPECT_EQ(paths_with("/usr/lib/libf.so.1", "/gone/f.c"), "/gone/both.h /gone/demo.c ");
  EXPECT_EQ(paths_with("/usr/lib/libf.so.1", "/proc/self/exe"),
            "/gone/both.h /gone/demo.c /proc/self/exe ");
  EXPECT_EQ(paths_with("/home/me/libf.so", "/gone/f.c"), "/gone/both.h /gone/demo.c /gone/f.c ");
}

}  // namespace
}  // namespace sp::profiler
