#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "end_to_end/cli_shell.h"

namespace sp::end_to_end {
namespace {

/// A child of this test that sleeps, or is a zombie; the destructor ends and reaps it.
class Bystander {
 public:
  enum Kind { sleeping, zombie };
  explicit Bystander(Kind kind) : pid_(::fork()) {
    if (pid_ == 0) {
      if (kind == sleeping) {
        ::pause();
      }
      ::_exit(0);
    }
    if (kind == zombie) {
      siginfo_t info{};
      ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    }
  }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;
  ~Bystander() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] std::string pid() const { return std::to_string(pid_); }

 private:
  pid_t pid_;
};

std::string status_line(const std::string& pid, const std::string& field) {
  std::ifstream in("/proc/" + pid + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(field)) {
      return line;
    }
  }
  return "";
}

// True if the tests themselves may attach, which the tests of the profiler need anyway.
bool machine_allows_ptrace() { return shell("\"$SP\" doctor >/dev/null").status == 0; }

TEST(Doctor, judges_the_machine) {
  const ShellOutcome outcome = shell("\"$SP\" doctor");
  for (const auto* subject :
       {"kernel", "ptrace", "yama", "rights", "seccomp", "memory", "cpus", "text writes"}) {
    EXPECT_NE(outcome.output.find(std::string("  ") + subject), std::string::npos)
        << outcome.output;
  }
  EXPECT_EQ(outcome.status, outcome.output.find("FAIL") == std::string::npos ? 0 : 1);
  EXPECT_EQ(outcome.output.find('\033'), std::string::npos) << "coloured into a pipe";
}

TEST(Doctor, finds_that_a_process_can_be_profiled_and_leaves_it_alone) {
  if (!machine_allows_ptrace()) {
    GTEST_SKIP() << "this machine does not allow ptrace";
  }
  const Bystander bystander(Bystander::sleeping);
  const ShellOutcome outcome = shell("\"$SP\" doctor -p " + bystander.pid());
  EXPECT_NE(outcome.output.find("allowed: attached and detached"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(status_line(bystander.pid(), "State"), "State:\tS (sleeping)");
  EXPECT_EQ(status_line(bystander.pid(), "TracerPid"), "TracerPid:\t0");
}

TEST(Doctor, says_that_a_process_is_a_zombie) {
  const Bystander bystander(Bystander::zombie);
  const ShellOutcome outcome = shell("\"$SP\" doctor -p " + bystander.pid());
  EXPECT_NE(outcome.output.find("(a zombie)"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.status, 1);
}

TEST(Doctor, says_that_there_is_no_such_process) {
  const ShellOutcome outcome = shell("\"$SP\" doctor -p 4194304");
  EXPECT_NE(outcome.output.find("there is no process 4194304"), std::string::npos);
  EXPECT_EQ(outcome.status, 1);
}

TEST(Doctor, says_who_traces_a_process_already) {
  if (!machine_allows_ptrace() || !has_program("strace")) {
    GTEST_SKIP() << "this machine does not allow ptrace, or strace is not installed";
  }
  // strace says "attached" on stderr; the script waits for that, not for a time.
  const Bystander bystander(Bystander::sleeping);
  const ShellOutcome outcome =
      shell("exec 2>&1; mkfifo_dir=$(mktemp -d); mkfifo $mkfifo_dir/f; strace -o /dev/null -p " +
            bystander.pid() +
            " 2>$mkfifo_dir/f & tracer=$!; read -r line <$mkfifo_dir/f; \"$SP\" doctor -p " +
            bystander.pid() + "; kill $tracer; rm -r $mkfifo_dir");
  EXPECT_NE(outcome.output.find("already traced by strace"), std::string::npos) << outcome.output;
}

TEST(Doctor, says_that_another_users_process_needs_root) {
  if (::getuid() != 0 || !has_program("setpriv")) {
    GTEST_SKIP() << "only root can become another user, with setpriv of util-linux";
  }
  const Bystander bystander(Bystander::sleeping);
  // The program is passed as an open file: other users may not have access to its directory.
  const ShellOutcome outcome =
      shell("setpriv --reuid 65534 --regid 65534 --clear-groups /proc/self/fd/9 doctor -p " +
            bystander.pid() + " 9<\"$SP\"");
  EXPECT_NE(outcome.output.find("belongs to uid 0 and superprofiler runs as uid 65534"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.status, 1);
}

}  // namespace
}  // namespace sp::end_to_end
