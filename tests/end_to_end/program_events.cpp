// --trace: the program's own events (XRay's custom and typed ones), and first arguments of calls.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

constexpr const char* kProgram = R"(
#include <cstdio>
#define NOINLINE __attribute__((noinline))
volatile unsigned long sink;
NOINLINE __attribute__((xray_always_instrument, xray_log_args(1))) long logs(long value) {
  sink = value;
  return value * 3;
}
NOINLINE void says(const char* text) {
  __xray_customevent((char*)text, 5);
  sink = sink + 1;
}
NOINLINE void tells(const void* data) {
  __xray_typedevent(7, (char*)data, 31);
  sink = sink + 1;
}
int main() {
  for (long i = 0; i < 100; ++i) logs(i == 50 ? -1 : i);
  says("hello");
  tells("a longer text than twelve bytes");
  std::puts("done");
}
)";
// What the runtime has; empty, so that the program needs none.
constexpr const char* kNoRuntime = R"(
extern "C" {
__attribute__((xray_never_instrument)) void __xray_CustomEvent() {}
__attribute__((xray_never_instrument)) void __xray_TypedEvent() {}
}
)";

/// "" if there is no such compiler.
std::string build(const TempDir& directory, const std::string& source, const Words& options) {
  std::ofstream(directory / "program.cpp") << source;
  Words compiler{"clang++",
                 "-O1",
                 "-fxray-instrument",
                 "-fxray-instruction-threshold=1",
                 "-o",
                 directory / "program",
                 directory / "program.cpp"};
  compiler.insert(compiler.end(), options.begin(), options.end());
  return has_program("clang++") && run(compiler).exit_status() == 0 ? directory / "program" : "";
}

using Json = nlohmann::json;

/// Of a converted trace.
std::vector<Json> events_of(const TempDir& directory) {
  const Outcome outcome =
      run({SP_PROGRAM, "convert", directory / "run", "-f", "chrome", "-o", "-"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  return Json::parse(outcome.out).at("traceEvents");
}

/// "custom event 5 hello"
Words own_events(const std::vector<Json>& events) {
  Words own;
  for (const Json& event : events) {
    if (event.at("ph") == "i") {
      const Json& args = event.at("args");
      own.push_back(event.at("name").get<std::string>() + " " +
                    std::to_string(args.at("size").get<int>()) + " " +
                    args.at("data").get<std::string>());
    }
  }
  return own;
}

/// The first argument of each call of the function, as JSON.
Words arguments_of(const std::vector<Json>& events, const std::string& function) {
  Words arguments;
  for (const Json& event : events) {
    if (event.at("ph") == "B" && event.at("name").get<std::string>().starts_with(function)) {
      arguments.push_back(event.at("args").contains("arg1") ? event.at("args").at("arg1").dump()
                                                            : "none");
    }
  }
  return arguments;
}

Words expected_arguments() {
  Words expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back(i == 50 ? "\"18446744073709551615\"" : std::to_string(i));
  }
  return expected;
}

TEST(ProgramEvents, are_traced_with_what_the_program_says) {
  const TempDir directory;
  const std::string program =
      build(directory, std::string(kNoRuntime) + kProgram, {"-fnoxray-link-deps"});
  if (program.empty()) {
    GTEST_SKIP() << "no clang++ with -fxray-instrument";
  }
  for (const Words& options :
       {Words{}, Words{"-a"}, Words{"--via", "xray"}, Words{"--via", "int3"}}) {
    Words all{"--trace", "--overwrite"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run(superprofiler(directory, all, {program}));
    ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(outcome.out, "done\n");
    const auto events = events_of(directory);
    EXPECT_EQ(own_events(events),
              (Words{"custom event 5 hello", "typed event 7 31 a longer text than twelve bytes"}));
    EXPECT_EQ(arguments_of(events, "logs"), expected_arguments());
    const Outcome graph = run({SP_PROGRAM, "report", "--trace", "--graph", directory / "run"});
    EXPECT_NE(graph.out.find("logs(long) [49];"), std::string::npos);
    EXPECT_NE(graph.out.find("  /* custom event: hello */"), std::string::npos);
  }
  if (has_program("llvm-xray")) {
    const std::string log = directory / "log.xray";
    EXPECT_EQ(
        run({SP_PROGRAM, "convert", directory / "run", "-f", "xray", "-o", log}).exit_status(), 0);
    const Outcome read = run({"llvm-xray", "convert", "-f", "yaml", log});
    EXPECT_NE(read.out.find("args: [ 49 ]"), std::string::npos) << read.text();
  }
}

// Its runtime switches the sleds on: what stands in front of the call is executed.
TEST(ProgramEvents, are_traced_where_the_program_has_switched_them_on) {
  const TempDir directory;
  const std::string program = build(directory, kProgram, {});
  if (program.empty()) {
    GTEST_SKIP() << "no clang++ with XRay's runtime";
  }
  StartOptions start;
  start.environment = {"XRAY_OPTIONS=patch_premain=true"};
  const Outcome outcome =
      run(superprofiler(directory, {"--trace", "-a", "--via", "xray"}, {program}), start);
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "done\n");
  const Words own = own_events(events_of(directory));
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[0], "custom event 5 hello");  // clang 14 passes no typed one as it is meant
}

// Hot functions tell of them from copies.
TEST(LoggedArguments, are_those_of_every_call_that_an_attribute_list_names) {
  const TempDir directory;
  write_file(directory / "list", "[always]\nfun:work=arg1\n");
  for (const std::string via : {"auto", "int3", "copy"}) {
    const Outcome outcome = run(superprofiler(
        directory, {"--trace", "--via", via, "--overwrite", "--attr-list", directory / "list"},
        {target("logs_arguments")}));
    ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
    const auto events = events_of(directory);
    const Words arguments = arguments_of(events, "work");
    ASSERT_EQ(arguments.size(), 3000U) << via;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      ASSERT_EQ(arguments[i], std::to_string(2 * i)) << via;
    }
    EXPECT_EQ(arguments_of(events, "main"), Words{"none"});
  }
}

}  // namespace
}  // namespace sp::end_to_end
