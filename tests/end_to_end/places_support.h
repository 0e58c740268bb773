#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"
#include "end_to_end/table_rows.h"
#include "end_to_end/trace_client.h"

namespace sp::end_to_end {

inline constexpr const char* kProgram = R"(
#include <stdio.h>
#define CALLED __attribute__((noinline))
#ifndef ROUNDS
#define ROUNDS 50000
#endif
volatile unsigned long sink;
CALLED int leaf(int value) { return value * 3; }
CALLED int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
CALLED void hot(int value) { sink += value; }
__attribute__((no_instrument_function, noinline)) int plain(int value) { return value + 1; }
int main(void) {
  int sum = 0;
  for (int i = 0; i < ROUNDS; ++i) hot(i);
  for (int i = 0; i < 200; ++i) sum += plain(leaf(i));
  printf("%d %d\n", fib(7), sum);
}
)";
inline constexpr const char* kPrints = "13 59900\n";

inline const Words kXray{"clang", "-O1", "-fxray-instrument", "-fxray-instruction-threshold=1"};

/// gcc's -pg writes gmon.out there.
inline StartOptions in(const TempDir& directory, const Words& environment = {}) {
  StartOptions options;
  options.directory = directory.path();
  options.environment = environment;
  return options;
}

/// The program in `directory`, by the compiler and its options; "" if that cannot be.
inline std::string build(const TempDir& directory, Words compiler, const std::string& source) {
  if (!has_program(compiler.front())) {
    return "";
  }
  std::ofstream(directory / "program.c") << source;
  compiler.insert(compiler.end(),
                  {"-pthread", "-o", directory / "program", directory / "program.c"});
  const Outcome built = run(compiler, in(directory));
  return built.exit_status() == 0 ? directory / "program" : "";
}

/// id by function name, of superprofiler symbols.
inline std::map<std::string, std::string> xray_ids(const std::string& program) {
  std::map<std::string, std::string> ids;
  for (const auto& row : table_rows(run({SP_PROGRAM, "symbols", program}).out)) {
    ids[row.at("demangled_name")] = row.at("xray_id");
  }
  return ids;
}

using Calls = std::map<std::string, std::uint64_t>;

inline Calls traced(const TempDir& directory, Words options, const std::string& program,
                    const Words& environment = {}) {
  options.insert(options.begin(), {"--trace", "--overwrite"});
  const Outcome outcome =
      run(superprofiler(directory, options, {program}), in(directory, environment));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, kPrints);
  return closings_in(directory / "run");
}

}  // namespace sp::end_to_end
