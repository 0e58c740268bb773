// Processes that die of signals with a core dump: what is reported, and that they die as without
// us.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

json crash_in(const std::string& directory, const std::string& name = "crash.json") {
  return json::parse(read_file(directory + "/" + name), nullptr, false);
}

/// The functions of a thread's stack, innermost first.
Words functions_of(const json& thread) {
  Words functions;
  for (const json& call : thread.at("stack")) {
    functions.push_back(call.at("function"));
  }
  return functions;
}

bool begins_with(const Words& functions, const Words& expected) {
  return functions.size() >= expected.size() &&
         std::equal(expected.begin(), expected.end(), functions.begin());
}

bool has(const Words& functions, const std::string& function) {
  return std::find(functions.begin(), functions.end(), function) != functions.end();
}

struct Way {
  std::string how;
  int signal;
  Words innermost;  // functions
  std::string code;
  std::string caller;  // farther out
};

class CrashOf : public testing::TestWithParam<Way> {};

TEST_P(CrashOf, is_reported_and_ends_the_program_as_ever) {
  const Way& way = GetParam();
  const TempDir directory;
  const auto run = profile(directory, {}, {target("crash_ways"), way.how});
  EXPECT_EQ(run.outcome.signal(), way.signal) << run.outcome.text();
  const json crash = crash_in(directory / "run");
  ASSERT_TRUE(crash.is_object()) << run.outcome.text();
  EXPECT_EQ(crash["signal_number"], way.signal);
  EXPECT_EQ(crash["code_name"], way.code);
  const json& first = crash["threads"][0];
  EXPECT_EQ(first["got_signal"], true);
  EXPECT_EQ(first["tid"], crash["pid"]);
  EXPECT_TRUE(begins_with(functions_of(first), way.innermost)) << first.dump(1);
  EXPECT_TRUE(has(functions_of(first), way.caller)) << first.dump(1);
  EXPECT_TRUE(crash["registers"].is_object());
  EXPECT_TRUE(std::any_of(crash["modules"].begin(), crash["modules"].end(), [](const json& one) {
    return one["path"] == target("crash_ways") && one["build_id"] != "" && one["base"] != "0x0";
  })) << crash["modules"];
  EXPECT_NE(run.outcome.err.find("crashed: " + crash["signal"].get<std::string>()),
            std::string::npos)
      << run.outcome.err;
}

INSTANTIATE_TEST_SUITE_P(
    Ways, CrashOf,
    testing::Values(
        Way{"leaf", SIGSEGV, {"leaf", "middle", "main"}, "SEGV_MAPERR", "_start"},
        Way{"abort", SIGABRT, {}, "SI_TKILL", "give_up"},
        Way{"overflow", SIGSEGV, {"overflow", "overflow", "overflow"}, "SEGV_MAPERR", "overflow"},
        Way{"divide", SIGFPE, {"main"}, "FPE_INTDIV", "_start"},
        Way{"quit", SIGQUIT, {}, "SI_USER", "main"},
        Way{"handler", SIGSEGV, {}, "SI_TKILL", "middle"},
        Way{"fault again", SIGSEGV, {"leaf", "middle", "main"}, "SEGV_MAPERR", "_start"}),
    [](const auto& way) {
      std::string name = way.param.how;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Crash, has_the_stacks_of_all_threads) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("crash_ways"), "thread"});
  EXPECT_EQ(run.outcome.signal(), SIGSEGV) << run.outcome.text();
  const json crash = crash_in(directory / "run");
  ASSERT_EQ(crash["threads"].size(), 4U) << run.outcome.text();
  EXPECT_TRUE(begins_with(functions_of(crash["threads"][0]), {"leaf", "middle", "crash_in_thread"}))
      << crash["threads"][0].dump(1);
  for (const char* function : {"spin", "sleep_on", "main"}) {
    EXPECT_EQ(std::count_if(crash["threads"].begin(), crash["threads"].end(),
                            [&](const json& one) { return has(functions_of(one), function); }),
              1)
        << function << crash["threads"].dump(1);
  }
  EXPECT_EQ(crash["unread_threads"], 0);
}

TEST(Crash, is_reported_in_every_mode) {
  const std::vector<Words> modes = {{"-n"}, {"--single"}, {"--trace"}, {"--coverage"}, {"-a"}};
  for (const Words& mode : modes) {
    const TempDir directory;
    const auto run = profile(directory, mode, {target("crash_ways"), "leaf"});
    EXPECT_EQ(run.outcome.signal(), SIGSEGV) << mode[0] << run.outcome.text();
    const json crash = crash_in(directory / "run");
    ASSERT_TRUE(crash.is_object()) << mode[0] << run.outcome.text();
    EXPECT_TRUE(begins_with(functions_of(crash["threads"][0]), {"leaf", "middle", "main"}))
        << mode[0] << crash["threads"][0].dump(1);
  }
}

/// Core files of processes that run in a directory; "" where the kernel writes none there.
std::string core_file(const std::string& directory, pid_t pid) {
  std::string pattern = read_file("/proc/sys/kernel/core_pattern");
  pattern.erase(pattern.find_last_not_of('\n') + 1);
  if (const auto place = pattern.find("%p"); place != std::string::npos) {
    pattern.replace(place, 2, std::to_string(pid));
  } else if (read_file("/proc/sys/kernel/core_uses_pid").starts_with("1")) {
    pattern += "." + std::to_string(pid);
  }
  if (pattern.empty() || pattern[0] == '|' || pattern.find('%') != std::string::npos) {
    return "";
  }
  return pattern[0] == '/' ? pattern : directory + "/" + pattern;
}

/// The core has the program's own code, and a debugger its stack.
TEST(Crash, leaves_a_core_without_anything_of_ours_in_its_code) {
  const std::string place = core_file("/tmp", 1);
  std::error_code error;
  const auto folder = std::filesystem::path(place).parent_path();
  const bool is_new = !place.empty() && std::filesystem::create_directories(folder, error);
  if (place.empty() || ::access(folder.c_str(), W_OK) != 0 || !has_program("python3")) {
    GTEST_SKIP() << "the kernel writes no core files here (core_pattern)";
  }
  for (const Words& mode : {Words{"-a"}, Words{"--single"}}) {
    const TempDir directory;
    StartOptions start;
    start.directory = directory.path();
    start.environment = {"ASAN_OPTIONS=disable_coredump=0", "TSAN_OPTIONS=disable_coredump=0"};
    start.before_exec = [] {
      rlimit limit{};
      (void)::getrlimit(RLIMIT_CORE, &limit);
      limit.rlim_cur = limit.rlim_max;
      (void)::setrlimit(RLIMIT_CORE, &limit);
    };
    const bool counts = mode[0] == "-a";  // else 300,000 rounds would take long
    const auto run =
        profile(directory, mode, {target("crash_ways"), counts ? "hot" : "leaf"}, start);
    const json crash = crash_in(directory / "run");
    ASSERT_TRUE(crash.is_object()) << run.outcome.text();
    const std::string core = core_file(directory.path(), crash["pid"]);
    if (!std::filesystem::exists(core)) {
      GTEST_SKIP() << "no core file " << core << " (its size is limited)";
    }
    const Outcome checked =
        end_to_end::run({"python3", SP_SOURCE_DIR "/tests/end_to_end/core_text.py", core});
    EXPECT_TRUE(checked.out.ends_with(" 0\n")) << checked.text() << checked.out;
    EXPECT_FALSE(checked.out.starts_with("0 ")) << "no code of the program was changed";
    if (has_program("gdb")) {
      const Outcome debugged =
          end_to_end::run({"gdb", "-nx", "-batch", "-ex", "bt", target("crash_ways"), core});
      EXPECT_NE(debugged.out.find(counts ? " work (" : " leaf ("), std::string::npos)
          << debugged.out;
      EXPECT_NE(debugged.out.find("main ("), std::string::npos) << debugged.out;
    }
    std::filesystem::remove(core, error);
  }
  if (is_new) {
    std::filesystem::remove(folder, error);
  }
}

TEST(Crash, is_reported_of_an_attached_process_and_of_children) {
  {
    const TempDir directory;
    Running program({target("crash_ways"), "leaf", "wait"});
    ASSERT_TRUE(program.says("ready\n"));
    Running profiler(superprofiler(directory, {"-p", std::to_string(program.pid())}));
    ASSERT_TRUE(eventually([&] { return status_of(program.pid(), "TracerPid") != "0"; }));
    program.close_input();
    EXPECT_EQ(program.wait().signal(), SIGSEGV);
    EXPECT_EQ(profiler.wait().exit_status(), 0);
    const json crash = crash_in(directory / "run");
    ASSERT_TRUE(crash.is_object());
    EXPECT_TRUE(begins_with(functions_of(crash["threads"][0]), {"leaf", "middle", "main"}));
  }
  const TempDir directory;
  const auto run = profile(directory, {}, {target("crash_ways"), "children"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const json first = crash_in(directory / "run");
  const json second = crash_in(directory / "run", "crash-2.json");
  ASSERT_TRUE(first.is_object() && second.is_object()) << run.outcome.text();
  EXPECT_NE(first["pid"], second["pid"]);
  EXPECT_TRUE(has(functions_of(second["threads"][0]), "crash_children"));
}

TEST(Crash, is_none_where_the_program_goes_on) {
  const TempDir directory;
  write_file(directory / "old", "");
  std::filesystem::create_directory(directory / "run");
  write_file(directory / "run/crash.json", "of an earlier run");
  const auto run = profile(directory, {"--overwrite"}, {target("crash_ways"), "caught"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.err.find("crashed"), std::string::npos) << run.outcome.err;
  EXPECT_FALSE(std::filesystem::exists(directory / "run/crash.json"));
}

TEST(Crash, is_told_to_the_reader_of_the_tree) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const TempDir directory;
  Running reader({"python3", SP_SOURCE_DIR "/tests/end_to_end/emit_reader.py", directory / "socket",
                  directory / "lines", "all"});
  ASSERT_TRUE(reader.says("listening"));
  const auto run = profile(directory, {"--tree", "--emit", "unix:" + (directory / "socket")},
                           {target("crash_ways"), "leaf"});
  EXPECT_EQ(run.outcome.signal(), SIGSEGV) << run.outcome.text();
  (void)reader.wait();
  const std::string lines = read_file(directory / "lines");
  const auto at = lines.find("{\"type\":\"event\"");
  ASSERT_NE(at, std::string::npos) << lines << run.outcome.text();
  const json event = json::parse(lines.substr(at, lines.find('\n', at) - at), nullptr, false);
  EXPECT_EQ(event["data"]["signal"], "SIGSEGV");
  EXPECT_EQ(event["data"]["address"], 0);
  EXPECT_EQ(event["data"]["stackTrace"][0]["name"], "leaf");
  EXPECT_EQ(event["data"]["stackTrace"][1]["name"], "middle");
  if (end_to_end::run({"python3", "-c", "import jsonschema"}).exit_status() == 0) {
    const Outcome checked = end_to_end::run(
        {"python3", "-c",
         "import json,jsonschema,sys\n"
         "check = jsonschema.Draft7Validator(json.load(open(sys.argv[1])))\n"
         "for line in open(sys.argv[2]):\n"
         "    for error in check.iter_errors(json.loads(line)): sys.exit(error.message[:500])\n",
         SP_SOURCE_DIR "/docs/emit.schema.json", directory / "lines"});
    EXPECT_EQ(checked.exit_status(), 0) << checked.err;
  }
}

}  // namespace
}  // namespace sp::end_to_end
