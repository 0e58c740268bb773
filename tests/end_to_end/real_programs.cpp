// Common programs, launched and attached: the same output and status as without superprofiler, and
// stacks that reach their roots.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// A program that runs in a directory of its own, with the files that `prepare` creates.
struct RealProgram {
  std::string name;
  Words command;
  void (*prepare)(const TempDir& directory) = nullptr;
  Words needs;           // programs in PATH
  double truncated = 5;  // percent of the stacks that may be
  /// The command for exact counts, with less work, since each block costs a stop. Nothing:
  /// `command`.
  Words shortened = {};
};

void PrintTo(const RealProgram& program, std::ostream* out) { *out << program.name; }

void put_text(const TempDir& directory) { write_file(directory / "text", words_of(6'000'000)); }

void put_cpp(const TempDir& directory) {
  write_file(directory / "a.cpp",
             "#include <map>\n#include <regex>\n#include <string>\n"
             "int main() { std::map<std::string, std::regex> m; return (int)m.size(); }\n");
}

void put_javascript(const TempDir& directory) {
  write_file(directory / "a.js",
             "function hot_function(n) { let x = 0; for (let i = 0; i < n; i++) x = (x * 31 + i) | "
             "0; return x; }\nlet all = 0; for (let i = 0; i < 80; i++) all ^= "
             "hot_function(2000000);\nconsole.log(all);\n");
}

void put_python(const TempDir& directory) {
  write_file(directory / "a.py",
             "import threading\n"
             "def work(n):\n"
             "    return sum(i * i % 7 for i in range(n))\n"
             "results = []\n"
             "threads = [threading.Thread(target=lambda: results.append(work(400000)))\n"
             "           for _ in range(4)]\n"
             "for t in threads: t.start()\n"
             "for t in threads: t.join()\n"
             "print(sum(results))\n");
}

/// As tests/targets/program_variants.cmake builds it.
std::string spinning(const char* variant) { return target("spin_shares_") + variant; }

RealProgram spinning_program(const std::string& name, const char* variant) {
  const std::string program = spinning(variant);
  return {name, {program, "700"}, nullptr, {program}, 5, {program, "1", "2000"}};
}

const std::vector<RealProgram>& real_programs() {
  static const std::vector<RealProgram> programs = {
      {"gzip", {"gzip", "-c", "text"}, put_text, {"gzip"}},
      {"xz", {"xz", "-T2", "-1", "--block-size=1MiB", "-c", "text"}, put_text, {"xz"}},
      {"bzip2", {"bzip2", "-c", "text"}, put_text, {"bzip2"}},
      {"sqlite3",
       {"sqlite3", ":memory:",
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) "
        "select count(*), sum(a.i % 7), count(distinct a.i * 31 % 1009) from n a;"},
       nullptr,
       {"sqlite3"},
       5,
       {"sqlite3", ":memory:",
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60) "
        "select count(*), sum(a.i % 7), count(distinct a.i * 31 % 11) from n a;"}},
      {"python3",
       {"/usr/bin/python3", "a.py"},
       put_python,
       {"/usr/bin/python3"},
       5,
       {"/usr/bin/python3", "-S", "-c", "print(sum(i * i % 7 for i in range(90)))"}},
      {"rg",
       {"rg", "-c", "word1[0-9]*9 .*word(2|3)[0-9]+5.*7 word", "text"},
       put_text,
       {"rg"},
       5,
       {"rg", "-c", "word", "text"}},
      {"pipeline",
       {"bash", "-c",
        "tr ' ' '\\n' < text | sort | uniq -c | sort -rn | head -3; echo ${PIPESTATUS[@]}"},
       put_text,
       {"bash"},
       5,
       // head may end before sort has written, on a slow machine
       {"bash", "-c", "tr ' ' '\\n' < text | sort | uniq -c | sort -rn | sed -n 1,3p"}},
      {"gcc",
       {"g++", "-O1", "-S", "-o", "-", "a.cpp"},
       put_cpp,
       {"g++"},
       5,
       {"gcc", "-E", "-x", "c", "/dev/null"}},
      {"node",
       {"node", "--perf-basic-prof", "a.js"},
       put_javascript,
       {"node"},
       5,
       {"node", "--version"}},
      spinning_program("static_program", "static"),
      spinning_program("stripped_program", "stripped"),
      spinning_program("lld_program", "lld"),
  };
  return programs;
}

class RealPrograms : public ::testing::TestWithParam<RealProgram> {
 protected:
  void SetUp() override {
    for (const std::string& needed : GetParam().needs) {
      const bool there =
          needed.front() == '/' ? ::access(needed.c_str(), X_OK) == 0 : has_program(needed);
      if (!there) {
        GTEST_SKIP() << needed << " is not installed";
      }
    }
    if (GetParam().prepare != nullptr) {
      GetParam().prepare(directory_);
    }
    start_.input = "";
    start_.directory = directory_.path();
    start_.environment = {"LC_ALL=C"};
  }

  void expect_plausible(const RunFiles& files) {
    ASSERT_TRUE(files.complete());
    EXPECT_GT(files.samples(), 0U);
    if (files.samples() >= 200) {
      EXPECT_LT(files.truncated_percent(), GetParam().truncated);
    }
  }

  TempDir directory_;
  StartOptions start_;
};

TEST_P(RealPrograms, are_unharmed_when_launched) {
  const Outcome without = run(GetParam().command, start_);
  ASSERT_EQ(without.exit_status(), 0) << without.text();
  const auto with = profile(directory_, {}, GetParam().command, start_);
  EXPECT_EQ(with.outcome.wait_status, without.wait_status) << with.outcome.text();
  EXPECT_TRUE(with.outcome.out == without.out) << "another output";
  EXPECT_EQ(with.outcome.foreign_lines(), without.err);
  expect_plausible(with.files);
}

TEST_P(RealPrograms, are_unharmed_when_attached) {
  const Outcome without = run(GetParam().command, start_);
  Running program(GetParam().command, start_);
  Words options = {"-p", std::to_string(program.pid()), "--follow", "all"};
  Running profiler(superprofiler(directory_, options));
  const Outcome with = program.wait();
  const Outcome profiled = profiler.wait();
  EXPECT_EQ(with.wait_status, without.wait_status) << with.text();
  EXPECT_TRUE(with.out == without.out) << "another output";
  EXPECT_EQ(with.err, without.err);
  // It may have ended before the attach.
  if (profiled.exit_status() == 0) {
    EXPECT_TRUE(RunFiles(directory_ / "run").complete()) << profiled.text();
  } else {
    EXPECT_EQ(profiled.exit_status(), 125) << profiled.text();
  }
}

TEST_P(RealPrograms, are_unharmed_when_counted) {
  write_file(directory_ / "text", words_of(5'000));
  const Words& command = GetParam().shortened.empty() ? GetParam().command : GetParam().shortened;
  const Outcome without = run(command, start_);
  ASSERT_EQ(without.exit_status(), 0) << without.text();
  // Of millions of blocks the first are counted; tests/stress/oracle_rounds.py counts all.
  const Words options = {"--single", "-d", patience_factor() > 1 ? "60s" : "20s"};
  const auto with = profile(directory_, options, command, start_);
  EXPECT_EQ(with.outcome.wait_status, without.wait_status) << with.outcome.text();
  EXPECT_TRUE(with.outcome.out == without.out) << "another output";
  EXPECT_EQ(with.outcome.foreign_lines(), without.err);
  const auto counts = with.files.run().at("counts");
  EXPECT_EQ(counts.at("consistency").at("disagreeing"), 0) << counts;
  EXPECT_EQ(counts.at("lost_hits"), 0) << counts;
}

INSTANTIATE_TEST_SUITE_P(Each, RealPrograms, ::testing::ValuesIn(real_programs()),
                         [](const auto& program) { return program.param.name; });

TEST(Names, of_static_and_lld_programs_are_found) {
  for (const char* const variant : {"static", "lld"}) {
    const std::string program = spinning(variant);
    if (::access(program.c_str(), X_OK) != 0) {
      continue;  // lld or clang is not installed
    }
    const TempDir directory;
    const auto run = profile(directory, {}, {program, std::to_string(lengthened(700))});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_GT(run.files.total_of("main"), run.files.samples() * 9 / 10) << run.outcome.text();
  }
}

TEST(Names, of_stripped_programs_are_places_and_never_wrong) {
  const std::string program = spinning("stripped");
  const TempDir directory;
  const auto run = profile(directory, {}, {program, std::to_string(lengthened(700))});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  std::uint64_t places = 0;
  for (const FunctionRow& row : run.files.functions()) {
    if (row.module == program) {
      // A linker's stub has the name of its target, from the dynamic symbols.
      EXPECT_TRUE(row.function.starts_with("spin_shares_stripped+0x") ||
                  row.function.ends_with("@plt"))
          << row.function;
      places += row.self;
    }
  }
  EXPECT_GT(places, run.files.samples() * 9 / 10);
}

/// The p99 of a benchmark's line "p99 ..." in milliseconds, by redis-benchmark --csv.
double p99_of(const std::string& csv) {
  // "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99..."
  const auto line = csv.find("\"GET\"");
  std::vector<std::string> cells;
  for (std::size_t at = line; line != std::string::npos && cells.size() < 7;) {
    const auto open = csv.find('"', at);
    const auto close = csv.find('"', open + 1);
    if (close == std::string::npos) {
      break;
    }
    cells.push_back(csv.substr(open + 1, close - open - 1));
    at = close + 1;
  }
  return cells.size() == 7 ? std::stod(cells[6]) : -1;
}

TEST(RedisServer, serves_without_an_error_while_it_is_profiled) {
  if (!has_program("redis-server") || !has_program("redis-benchmark")) {
    GTEST_SKIP() << "redis-server and redis-benchmark are not installed";
  }
  const TempDir directory;
  const std::string socket = directory / "socket";
  StartOptions start;
  start.input = "";
  start.directory = directory.path();
  Running server(
      {"redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"},
      start);
  ASSERT_TRUE(eventually([&] { return ::access(socket.c_str(), F_OK) == 0; })) << server.out();
  const Words benchmark = {"redis-benchmark", "-s",   socket, "-n", "60000", "-c", "20", "-t",
                           "set,get",         "--csv"};
  const Outcome without = run(benchmark);
  ASSERT_EQ(without.exit_status(), 0) << without.text();
  const Outcome with =
      run(superprofiler(directory, {"-i", "1ms", "-p", std::to_string(server.pid())}, benchmark));
  EXPECT_EQ(with.exit_status(), 0) << with.text();
  EXPECT_EQ(with.foreign_lines(), without.err);
  const RunFiles files(directory / "run");
  EXPECT_GT(files.samples(), 0U) << with.text();
  EXPECT_LT(files.truncated_percent(), 5);
  EXPECT_EQ(what_was_left_behind(server.pid()), "");
  const double before = p99_of(without.out);
  const double now = p99_of(with.out);
  RecordProperty("p99_ms_without", std::to_string(before));
  RecordProperty("p99_ms_with", std::to_string(now));
  printf("p99: %.3f ms without, %.3f ms with\n", before, now);
  EXPECT_GT(now, 0) << with.out;
  EXPECT_LT(now, 50 * std::max(before, 1.0)) << "a latency cliff";
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().exit_status(), 0);
}

}  // namespace
}  // namespace sp::end_to_end
