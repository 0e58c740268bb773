#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "end_to_end/profiled.h"
#include "end_to_end/trace_calls.h"

/// Calls of one program as --trace and as --single count them. The programs are those of
/// tests/targets/oracles.
namespace sp::end_to_end {

using Counts = std::map<std::string, std::uint64_t>;

/// -pg writes gmon.out where the program runs.
inline StartOptions in_directory(const TempDir& directory) {
  StartOptions options;
  options.directory = directory.path();
  return options;
}

/// Compiles a source of tests/targets/oracles to DIR/program.
inline std::string compile(const TempDir& directory, Words compiler, const std::string& source) {
  std::string program = directory / "program";
  compiler.insert(compiler.end(),
                  {"-o", program, SP_SOURCE_DIR "/tests/targets/oracles/" + source});
  const Outcome built = run(compiler, in_directory(directory));
  EXPECT_EQ(built.exit_status(), 0) << built.text();
  return program;
}

/// Exact calls of the program's functions, by --single.
inline Counts single_calls(const TempDir& directory, const std::string& program) {
  const Outcome outcome = run(superprofiler(directory, {"--single", "--overwrite"}, {program}),
                              in_directory(directory));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  Counts calls;
  for (const FunctionRow& row : RunFiles(directory / "run").functions()) {
    if (row.module == program) {
      calls[row.function] += row.calls;
    }
  }
  return calls;
}

/// A way to build or to trace a program, for tests of several.
struct Way {
  std::string name;
  Words options;
};

/// What ctest calls its test.
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
inline std::string name_of_way(const testing::TestParamInfo<Way>& way) { return way.param.name; }

struct TracedProgram {
  std::map<std::string, Calls> calls;  // by function; those of one name are added up
  std::string out;                     // what the program has printed
};

/// A run with --trace of which nothing is missing.
inline TracedProgram trace(const TempDir& directory, const Words& more,
                           const std::string& program) {
  Words options{"--trace", "--overwrite"};
  options.insert(options.end(), more.begin(), more.end());
  const Outcome outcome =
      run(superprofiler(directory, options, {program}), in_directory(directory));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  const auto facts = RunFiles(directory / "run").run().at("trace");
  EXPECT_EQ(facts.at("kind"), "exact") << facts.dump();
  EXPECT_EQ(facts.at("lost"), 0) << facts.dump();
  EXPECT_EQ(facts.at("entries").at("disagreeing"), 0) << facts.dump();

  TracedProgram traced{{}, outcome.out};
  const Outcome shown =
      run({SP_PROGRAM, "report", "--trace", directory / "run", "--json", "--percent-limit", "0"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  const auto report = nlohmann::json::parse(shown.out, nullptr, false);
  for (const auto& row : report.value("rows", nlohmann::json::array())) {
    Calls& of = traced.calls[row.at("name")];
    of.calls += row.at("calls").get<std::uint64_t>();
    for (const auto& [closing, number] : row.at("closings").items()) {
      if (number != 0) {
        of.closings[closing] += number.get<std::uint64_t>();
      }
    }
  }
  return traced;
}

}  // namespace sp::end_to_end
