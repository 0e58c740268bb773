// Probes of the default mode are inserted into running programs and removed from them, however
// superprofiler ends: the program is left as it was.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

/// Executable mappings, by line.
std::vector<std::string> executable_mappings(pid_t pid) {
  std::istringstream maps(read_file("/proc/" + std::to_string(pid) + "/maps"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r-xp ") != std::string::npos) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// A program that prints "ready" and runs until its stdin ends.
struct Lasting {
  Words command;
  std::string says_at_the_end;
};

const std::vector<Lasting>& lasting_programs() {
  static const std::vector<Lasting> programs = {
      {{target("steady"), "3"}, "ready\nright\n"},
      {{target("steady"), "1", "2"}, "ready\nright\n"},
      {{target("probe_ways"), "sleeps"}, "ready\n0 handled, 0 bad\n"},
      {{target("probe_ways"), "forks"}, "ready\n0 handled, 0 bad\n"},
  };
  return programs;
}

/// The handler for SIGTRAP is installed before the first probe and stays to the end.
bool has_probes(pid_t pid) {
  constexpr std::uint64_t kTrap = 1U << (SIGTRAP - 1);
  return eventually([pid] {
    const std::string caught = status_of(pid, "SigCgt");
    return !caught.empty() && (std::stoull(caught, nullptr, 16) & kTrap) != 0;
  });
}

void expect_to_end_well(Running& program, const std::string& says) {
  program.close_input();
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, says);
}

TEST_F(Probes, of_an_attached_run_leave_nothing_behind) {
  int first_round = 0;
  for (const Lasting& lasting : lasting_programs()) {
    Running program(lasting.command);
    ASSERT_TRUE(program.says("ready\n"));
    SCOPED_TRACE(lasting.command[0] + " " + lasting.command[1]);
    const std::string caught = status_of(program.pid(), "SigCgt");
    const std::string blocked = status_of(::getpid(), "SigBlk");  // as inherited
    const auto mappings = executable_mappings(program.pid());
    first_round = 1 - first_round;
    // Each program is left in two of the four ways that have nothing in common.
    for (const int round : {first_round, 3 - first_round}) {
      SCOPED_TRACE(round);
      const TempDir directory;
      Words options = {"-q", "-p", std::to_string(program.pid())};
      // Without a budget, or what forks all the time would lose its probes.
      const Words more =
          round % 2 == 0 ? Words{"--follow", "none", "--overhead", "0"} : Words{"-a"};
      options.insert(options.end(), more.begin(), more.end());
      if (round < 2) {
        options.insert(options.end(), {"-d", "400ms"});
      }
      Running profiler(superprofiler(directory, options));
      if (round >= 2) {
        EXPECT_TRUE(has_probes(program.pid()));
        profiler.signal(SIGINT);
      }
      const Outcome outcome = profiler.wait();
      EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
      EXPECT_EQ(changed_text(program.pid()), "");
      EXPECT_EQ(executable_mappings(program.pid()), mappings);
      EXPECT_EQ(status_of(program.pid(), "SigCgt"), caught);
      EXPECT_TRUE(eventually([&] { return status_of(program.pid(), "SigBlk") == blocked; }));
      EXPECT_EQ(what_was_left_behind(program.pid()), "");
    }
    expect_to_end_well(program, lasting.says_at_the_end);
  }
}

/// A shell that forks 400 children, then says what it has of us: the signals that it catches, and
/// how many mappings it can execute.
Words forking_shell() {
  return {
      shell(), "-c",
      "i=0; while [ $i -lt 400 ]; do (:); i=$((i+1)); done; "
      "while read -r line; do case $line in SigCgt*) echo $line;; esac; done </proc/$$/status; "
      "i=0; while read -r line; do case $line in *r-xp*) i=$((i+1));; esac; done </proc/$$/maps; "
      "echo $i; exit 3"};
}

TEST_F(Probes, go_from_a_program_whose_forks_they_make_dear) {
  const Outcome alone = sp::end_to_end::run(forking_shell());
  const Profiled run = profile(directory_, {}, forking_shell());
  ASSERT_EQ(run.outcome.exit_status(), 3) << run.outcome.text();
  EXPECT_NE(run.outcome.err.find("from here on it is only sampled"), std::string::npos)
      << run.outcome.text();
  EXPECT_EQ(run.outcome.out, alone.out) << "something of ours is left in its memory";
  const nlohmann::json facts = run.files.run();
  // Only the children of the beginning have a copy of its probes.
  EXPECT_GT(facts["probes"]["uncounted_programs"], 200) << facts["probes"];
  EXPECT_EQ(facts["counts"]["blocks_by_kind"]["since"], 0) << facts["counts"];
  for (const BlockRow& block : blocks_of(run.files, shell())) {
    EXPECT_TRUE(block.hits == 0 || block.kind == "exact" || block.kind == "sampled" ||
                block.kind.find("until:") != std::string::npos)
        << block.kind;
  }
}

TEST_F(Probes, that_are_all_kept_stay_in_a_program_whose_forks_they_make_dear) {
  const Profiled run =
      profile(directory_, {"-a"},
              {shell(), "-c", "i=0; while [ $i -lt 40 ]; do (:); i=$((i+1)); done; exit 3"});
  ASSERT_EQ(run.outcome.exit_status(), 3) << run.outcome.text();
  EXPECT_EQ(run.outcome.err.find("only sampled"), std::string::npos) << run.outcome.text();
  EXPECT_EQ(run.files.run()["probes"]["uncounted_programs"], 0);
  EXPECT_EQ(run.files.run()["counts"]["blocks_by_kind"]["until"], 0);
}

/// One kill at a random moment; then the program has the right output and ends.
void kill_beside(const Lasting& lasting, const Words& options, unsigned delay_us) {
  const TempDir directory;
  Running program(lasting.command);
  ASSERT_TRUE(program.says("ready\n"));
  Words all = {"-q", "--follow", "all", "-p", std::to_string(program.pid())};
  all.insert(all.end(), options.begin(), options.end());
  Running profiler(superprofiler(directory, all));
  EXPECT_TRUE(has_probes(program.pid()));
  ::usleep(delay_us);
  profiler.signal(SIGKILL);
  EXPECT_EQ(profiler.wait().signal(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return changed_text(program.pid()).empty(); }));
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(program.pid()).empty(); }));
  expect_to_end_well(program, lasting.says_at_the_end);
}

class KilledWithProbes : public Probes,
                         public ::testing::WithParamInterface<std::pair<std::size_t, bool>> {};

TEST_P(KilledWithProbes, leaves_the_target_to_finish) {
  const int rounds = scaled(20);
  const auto [program, keeps_hot] = GetParam();
  std::minstd_rand random(static_cast<unsigned>(7 * program) + (keeps_hot ? 1U : 0U));
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    // Without a budget, or what forks all the time would lose its probes.
    const Words some = program == 3 ? Words{"--overhead", "0"} : Words{};
    kill_beside(lasting_programs().at(program), keeps_hot ? Words{"-a"} : some,
                static_cast<unsigned>(random() % 60'000));
  }
}

using Killing = std::pair<std::size_t, bool>;

std::vector<Killing> killings() {
  std::vector<Killing> all;
  for (std::size_t program = 0; program < lasting_programs().size(); ++program) {
    all.emplace_back(program, false);
    all.emplace_back(program, true);
  }
  return all;
}

std::string name_of(const ::testing::TestParamInfo<Killing>& killing) {
  const std::vector<std::string> names = {"threads", "one_thread", "sleeper", "forks"};
  return names.at(killing.param.first) + (killing.param.second ? "_all_kept" : "");
}

INSTANTIATE_TEST_SUITE_P(Each, KilledWithProbes, ::testing::ValuesIn(killings()), name_of);

}  // namespace
}  // namespace sp::end_to_end
