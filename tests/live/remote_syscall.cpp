// System calls that a running program is made to execute, and SIGKILL of the process that does it.
#include "supervisor/injection/remote_syscall.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "supervisor/injection/code_cave.h"
#include "supervisor/injection/remote_stops.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor {
namespace {

/// A program that runs until its standard input ends.
class Spinning {
 public:
  explicit Spinning(std::vector<std::string> words) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
      return;
    }
    words[0] = std::string(SP_TARGETS_DIR) + "/" + words[0];
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
    EXPECT_EQ(read_some(), "ready\n");
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  ~Spinning() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::close(out_);
    if (in_ >= 0) {
      ::close(in_);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Tells it to end, and returns what it prints.
  std::string end() {
    ::close(in_);
    in_ = -1;
    return read_some();
  }
  /// A line of its /proc/PID/status.
  [[nodiscard]] std::string status(const std::string& name) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(name + ":")) {
        return line;
      }
    }
    return "";
  }

 private:
  [[nodiscard]] std::string read_some() const {
    constexpr int kPatience = 60'000;  // ms
    std::string text(256, '\0');
    pollfd ready{out_, POLLIN, 0};
    const ssize_t got =
        ::poll(&ready, 1, kPatience) == 1 ? ::read(out_, text.data(), text.size()) : 0;
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
};

/// A process that stops the program again and again and makes it execute system calls in each stop:
/// for so many stops, or until it is killed. Its exit status says what went wrong.
class Caller {
 public:
  /// In each stop, the target is sent `signal` first (0: none).
  Caller(pid_t target, int stops, int signal = 0) : pid_(::fork()) {
    if (pid_ == 0) {
      ::_exit(run(target, stops, signal));
    }
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() { wait(); }

  void kill() const { ::kill(pid_, SIGKILL); }
  int wait() {
    int status = -1;
    if (pid_ > 0) {
      ::waitpid(pid_, &status, 0);
      pid_ = -1;
    }
    return status;
  }

 private:
  static int run(pid_t target, int stops, int signal) {
    ptrace::bind_to_this_thread();
    const auto place = find_code_cave(target);
    if (!place || !ptrace::seize(target, {})) {
      return 1;
    }
    for (int i = 0; i != stops; ++i) {
      if (!ptrace::interrupt(target) || !ptrace::wait_for(target)) {
        return 2;
      }
      if (signal != 0) {
        ::kill(target, signal);
      }
      constexpr int kCalls = 5;
      for (int call = 0; call < kCalls; ++call) {
        const auto answer = remote_syscall(target, *place, SYS_getpid, {});
        if (!answer && answer.error().code == EAGAIN) {
          break;  // it still leaves the stub of the last killed Caller
        }
        const auto failed = remote_syscall(target, *place, SYS_close, {~0ULL, 0, 0, 0, 0, 0});
        if (!answer || *answer != target || !failed || *failed != -EBADF) {
          return 3;
        }
      }
      if (!ptrace::resume(target, 0)) {
        return 4;
      }
      ::usleep(1000);  // let it run
    }
    return 0;
  }

  pid_t pid_ = -1;
};

class RemoteSyscall : public ::testing::TestWithParam<std::string> {};

TEST_P(RemoteSyscall, changes_no_register) {
  Spinning program({"keeps_registers", GetParam()});
  const std::string blocked = program.status("SigBlk");
  constexpr int kStops = 100;
  EXPECT_EQ(Caller(program.pid(), kStops).wait(), 0);
  EXPECT_EQ(program.status("SigBlk"), blocked);
  EXPECT_EQ(program.end(), "right\n");
}

TEST_P(RemoteSyscall, changes_no_register_when_killed) {
  Spinning program({"keeps_registers", GetParam()});
  const std::string blocked = program.status("SigBlk");
  std::minstd_rand random(4);
  constexpr int kRounds = 100;
  for (int i = 0; i < kRounds; ++i) {
    Caller caller(program.pid(), -1);
    ::usleep(1000 + static_cast<useconds_t>(random() % 10'000));  // at a random moment
    caller.kill();
    ASSERT_EQ(caller.wait(), SIGKILL) << "round " << i;
    ::usleep(1000);  // let it leave the stub
  }
  for (int i = 0; i < 100 && program.status("SigBlk") != blocked; ++i) {
    ::usleep(10'000);
  }
  EXPECT_EQ(program.status("SigBlk"), blocked);
  EXPECT_EQ(program.end(), "right\n");
}

INSTANTIATE_TEST_SUITE_P(With, RemoteSyscall, ::testing::Values("plain", "scalable"),
                         [](const auto& one) { return one.param; });

/// An interrupted wait does not start again from the beginning.
TEST(RemoteSyscall, lets_a_wait_go_on) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kWait{4};
  const auto began = Clock::now();
  const pid_t sleeper = ::fork();
  if (sleeper == 0) {
    const timespec wait{kWait.count(), 0};
    ::_exit(::nanosleep(&wait, nullptr) == 0 ? 0 : 1);
  }
  std::this_thread::sleep_for(kWait / 2);
  constexpr int kStops = 3;
  EXPECT_EQ(Caller(sleeper, kStops).wait(), 0);
  int status = -1;
  ::waitpid(sleeper, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_LT(Clock::now() - began, kWait + kWait / 2);
}

void do_nothing(int /*signal*/) {}

/// A child that waits in a system call, and exits with 0 if that returned what it should.
template <typename Wait>
pid_t begin_waiting(int flags, Wait wait) {
  const pid_t child = ::fork();
  if (child == 0) {
    struct sigaction action {};
    action.sa_handler = do_nothing;
    action.sa_flags = flags;
    ::sigaction(SIGUSR1, &action, nullptr);
    ::_exit(wait() ? 0 : 1);
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));  // let it begin to wait
  return child;
}

int end_of(pid_t child) {
  for (int i = 0; i < 1000; ++i) {
    int status = -1;
    if (::waitpid(child, &status, WNOHANG) == child) {
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "it waits still";
  ::kill(child, SIGKILL);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

bool is_interrupted(long answer) { return answer == -1 && errno == EINTR; }

TEST(RemoteSyscall, lets_a_signal_that_came_meanwhile_end_the_wait) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  for (const pid_t child : {
           begin_waiting(0, [] { return is_interrupted(::pause()); }),
           begin_waiting(SA_RESTART, [] { return is_interrupted(::pause()); }),
           begin_waiting(SA_RESTART, [] { return is_interrupted(::poll(nullptr, 0, 1'000'000)); }),
           begin_waiting(SA_RESTART,
                         [] {
                           constexpr timespec kLong{1000, 0};
                           return is_interrupted(::nanosleep(&kLong, nullptr));
                         }),
           begin_waiting(0,
                         [&] {
                           char byte = 0;
                           return is_interrupted(::read(pipe[0], &byte, 1));
                         }),
       }) {
    EXPECT_EQ(Caller(child, 1, SIGUSR1).wait(), 0);
    EXPECT_EQ(end_of(child), 0);
  }
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(RemoteSyscall, lets_a_wait_go_on_that_no_signal_ends) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const pid_t child = begin_waiting(SA_RESTART, [&] {
    char byte = 0;
    return ::read(pipe[0], &byte, 1) == 1 && byte == 'x';
  });
  EXPECT_EQ(Caller(child, 3, SIGUSR1).wait(), 0);
  EXPECT_EQ(::write(pipe[1], "x", 1), 1);
  EXPECT_EQ(end_of(child), 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

bool program_catches_nothing(pid_t pid) {
  const auto masks = read_signal_masks(pid);
  return masks && (masks->caught & signal_bit(SIGUSR1)) == 0;
}

constexpr int kQueuedValue = 42;

void exit_by_value(int /*signal*/, siginfo_t* info, void* /*context*/) {
  ::_exit(info->si_code == SI_QUEUE && info->si_value.sival_int == kQueuedValue ? 0 : 1);
}

/// Makes a call while a signal is about to be delivered, and detaches with that signal.
int call_at_signal(pid_t target) {
  ptrace::bind_to_this_thread();
  const auto place = find_code_cave(target);
  sigval value{};
  value.sival_int = kQueuedValue;
  if (!place || !ptrace::seize(target, {}) || ::sigqueue(target, SIGUSR1, value) != 0 ||
      !ptrace::wait_for(target)) {
    return 1;
  }
  const auto answer = remote_syscall(target, *place, SYS_getpid, {});
  return answer && *answer == target && ptrace::detach(target, SIGUSR1) ? 0 : 2;
}

TEST(RemoteSyscall, lets_a_signal_say_where_it_comes_from) {
  const pid_t program = ::fork();
  if (program == 0) {
    struct sigaction action {};
    action.sa_sigaction = exit_by_value;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGUSR1, &action, nullptr);
    for (volatile unsigned turns = 0;;) {
      turns = turns + 1;
      if (turns % 1'000'000 == 0) {
        ::close(-1);  // ThreadSanitizer calls handlers at such calls only
      }
    }
  }
  // A signal before the program handles it would end it.
  while (program_catches_nothing(program)) {
    ::sched_yield();
  }
  const pid_t tracer = ::fork();
  if (tracer == 0) {
    ::_exit(call_at_signal(program));
  }
  EXPECT_EQ(end_of(tracer), 0);
  EXPECT_EQ(end_of(program), 0);
}

/// Follows the leader of leader_leaves, whose thread nobody resumes, to its end. 0 if it comes back
/// with the leader in the stop on its way out.
int follow_to_the_end(pid_t target) {
  ptrace::bind_to_this_thread();
  if (!ptrace::seize(target, {})) {
    return 1;
  }
  ::kill(target, SIGCONT);
  constexpr int kMostCalls = 5000;
  DeferredStop deferred;
  int calls = 0;
  while (ptrace::wait_for(target) && run_to_call(target, StopReason::call_exit, deferred)) {
    if (++calls == kMostCalls) {
      return 2;
    }
  }
  const auto place = find_code_cave(target);
  const bool may_call = place && remote_syscall(target, *place, SYS_getpid, {});
  const auto threads = list_threads(target);
  return place && !may_call && threads && threads->size() == 2 ? 0 : 3;
}

// Its thread lives on, as all others do that wait for us when a thread executes another program: so
// nothing would tell of its end.
TEST(RemoteSyscall, does_not_wait_for_a_leader_that_ends) {
  const std::string program = std::string(SP_TARGETS_DIR) + "/leader_leaves";
  const pid_t target = ::fork();
  if (target == 0) {
    ::alarm(60);
    ::raise(SIGSTOP);
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(target, &status, WUNTRACED), target);
  const pid_t caller = ::fork();  // its end detaches
  if (caller == 0) {
    ::alarm(30);
    ::_exit(follow_to_the_end(target));
  }
  ASSERT_EQ(::waitpid(caller, &status, 0), caller);
  EXPECT_EQ(status, 0);
  ::kill(target, SIGKILL);
  ::waitpid(target, nullptr, 0);
}

}  // namespace
}  // namespace sp::supervisor
