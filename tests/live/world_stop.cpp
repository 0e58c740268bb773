// All threads of a program stopped and released a thousand times, under the supervisor.
#include "supervisor/tracees/world_stop.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "live/piped_program.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/supervisor.h"

namespace sp::supervisor {
namespace {

constexpr std::size_t kStops = 1000;
constexpr core::Duration kLimit = std::chrono::seconds(1);

/// What the stops were like.
struct Record {
  std::vector<core::Duration> until_stopped;
  std::vector<core::Duration> until_resumed;
  std::vector<core::Duration> cpu_to_stop;  // of ours
  std::vector<core::Duration> cpu_to_resume;
  std::size_t held = 0;
  std::size_t asleep = 0;
  std::size_t woken = 0;
  std::size_t failed = 0;
  bool ran_while_stopped = false;
};

core::Duration own_cpu() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + core::Duration(used.tv_nsec);
}

/// Stops everybody whenever a thread gets a signal, until that was often enough.
class StopsWorld final : public Instrument {
 public:
  StopsWorld(const InstrumentParts& parts, Record& record, test::PipedProgram& program)
      : parts_(parts), record_(record), program_(program) {}

  void begin_process(TracedProcess& process, pid_t tid, bool /*from_start*/) override {
    process.code_state = std::make_shared<InstrumentedCode>(process.id, tid, true, parts_.guardian);
  }
  void before_exec(Tracee& /*caller*/, pid_t /*tid*/) override {}
  [[nodiscard]] ForkOrigin origin_of(const Tracee& /*parent*/) const override { return {}; }
  void add_thread(Tracee& /*tracee*/, bool /*counted*/) override {}
  void inherit(Tracee& /*tracee*/, const ForkOrigin& /*origin*/) override {}
  [[nodiscard]] bool on_trap(Tracee& /*tracee*/, core::TimePoint /*now*/) override { return false; }
  void on_syscall(Tracee& /*tracee*/, core::TimePoint /*now*/) override {}
  void on_other_stop(Tracee& /*tracee*/) override {}
  [[nodiscard]] bool may_deliver_trap(Tracee& /*tracee*/) override { return true; }
  void flush(const TracedProcess& /*process*/, core::ThreadId /*thread*/) override {}
  [[nodiscard]] bool has_other_mask(const Tracee& /*tracee*/) const override { return false; }
  [[nodiscard]] bool make_detachable(Tracee& /*tracee*/, bool /*may_call*/) override {
    return true;
  }
  void fill(core::RunFacts& /*facts*/) const override {}

  void on_user_stop(Tracee& tracee, UserStop stop, core::TimePoint /*now*/) override {
    if (stop == UserStop::signal && still_held_.empty() && !is_done_) {
      stop_world(tracee);
    }
  }
  void resume(Tracee& tracee, int signal) override {
    (void)ptrace::resume(tracee.id.tid, signal);
    if (still_held_.erase(tracee.id.tid) != 0 && still_held_.empty()) {
      record_.until_resumed.push_back(core::Clock::now() - began_);
      record_.cpu_to_resume.push_back(own_cpu() - stopped_at_);
    }
  }

 protected:
  [[nodiscard]] std::shared_ptr<InstrumentedCode> copy_code(const TracedProcess& /*child*/,
                                                            pid_t /*tid*/,
                                                            const ForkOrigin& origin) override {
    return origin.code;
  }

 private:
  void stop_world(Tracee& tracee) {
    const core::Duration cpu = own_cpu();
    auto world = WorldStop::stop(parts_.tracees, tracee, kLimit);
    if (!world) {
      ++record_.failed;
      return;
    }
    began_ = world->began();
    record_.until_stopped.push_back(core::Clock::now() - began_);
    record_.cpu_to_stop.push_back(own_cpu() - cpu);
    record_.asleep += world->asleep();
    const auto woken = world->stop_woken(kLimit);
    record_.woken += woken.value_or(0);
    record_.held += world->threads().size();
    for (const HeldThread& thread : world->threads()) {
      const auto* const event = std::get_if<EventStop>(&thread.stop);
      if (event == nullptr || event->event != Event::exit) {
        record_.ran_while_stopped =
            record_.ran_while_stopped || !ptrace::registers(thread.tid).has_value();
      }
      still_held_.insert(thread.tid);
    }
    if (record_.until_stopped.size() == kStops) {
      is_done_ = true;
      program_.close_input();
    }
    stopped_at_ = own_cpu();
  }

  InstrumentParts parts_;
  Record& record_;
  test::PipedProgram& program_;
  std::set<pid_t> still_held_;
  core::TimePoint began_;
  core::Duration stopped_at_{};
  bool is_done_ = false;
};

void report(const char* what, std::vector<core::Duration> times) {
  ASSERT_FALSE(times.empty());
  std::sort(times.begin(), times.end());
  const auto us = [&](std::size_t per_cent) {
    return std::chrono::duration<double, std::micro>(times[(times.size() - 1) * per_cent / 100])
        .count();
  };
  std::cout << fmt::format("{}: median {:.0f} us, 90 % {:.0f} us, most {:.0f} us\n", what, us(50),
                           us(90), us(100));
}

TEST(WorldStop, leaves_the_program_as_it_was) {
  if (arch::Native::kInterruptedCallIsGuessed) {
    GTEST_SKIP() << "each stop of a thread in epoll_wait() ends that there (README, Limits)";
  }
  test::PipedProgram program("busy_world");
  ASSERT_EQ(program.line(), "ready");
  auto guardian = Guardian::start();
  ASSERT_TRUE(guardian);
  core::Channel<core::StopEvent> events(1 << 16);
  core::Channel<core::Request> requests(16);
  std::jthread reader([&events] {
    while (events.pop()) {
    }
  });
  Record record;
  SupervisorOptions options;
  options.pids = {program.pid()};
  options.make_instrument = [&](const InstrumentParts& parts) {
    return std::make_unique<StopsWorld>(parts, record, program);
  };
  Supervisor supervisor(std::move(options), *guardian, events, requests);
  ASSERT_TRUE(supervisor.prepare());
  supervisor.begin();
  supervisor.run();
  events.close();

  std::string said;
  for (std::string line = program.line(); !line.empty(); line = program.line()) {
    said += line + "\n";
  }
  EXPECT_EQ(said, "right\n");
  EXPECT_EQ(record.until_stopped.size(), kStops);
  EXPECT_EQ(record.failed, 0U);
  EXPECT_FALSE(record.ran_while_stopped);
  report("until all are stopped", record.until_stopped);
  report("until all run again", record.until_resumed);
  report("CPU to stop them", record.cpu_to_stop);
  report("CPU to let them run", record.cpu_to_resume);
  std::cout << fmt::format("held {:.1f}, asleep {:.1f}, woken {:.3f} a stop\n",
                           static_cast<double>(record.held) / kStops,
                           static_cast<double>(record.asleep) / kStops,
                           static_cast<double>(record.woken) / kStops);
}

/// A child that has stopped itself; once continued it executes a program in a child by vfork, and
/// waits.
pid_t vforking_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    if (::vfork() == 0) {
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    }
    for (;;) {
      ::pause();
    }
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, WUNTRACED), child);
  return child;
}

/// Lets everybody go on until one has executed a program, whose tid this returns; that report is
/// left.
pid_t run_until_exec() {
  siginfo_t info{};
  while (::waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | __WALL) == 0) {
    const auto report = ptrace::look(info.si_pid);
    if (!report || !*report) {
      return -1;
    }
    const WaitStatus status = parse_wait_status((*report)->status);
    const auto* const event = std::get_if<EventStop>(&status);
    if (event != nullptr && event->event == Event::exec) {
      return info.si_pid;
    }
    (void)ptrace::resume(info.si_pid, 0);
  }
  return -1;
}

TEST(WorldStop, leaves_out_a_process_that_shared_the_memory_and_has_executed_a_program) {
  ptrace::bind_to_this_thread();
  const pid_t parent = vforking_child();
  ASSERT_TRUE(ptrace::seize(parent, {}));
  ::kill(parent, SIGCONT);
  const pid_t child = run_until_exec();
  ASSERT_GT(child, 0);
  ASSERT_NE(child, parent);

  TraceeTable tracees;
  const auto code = std::make_shared<CodeState>();
  for (const pid_t pid : {parent, child}) {
    const auto process = tracees.add_process(pid);
    process->code_state = code;
    (void)tracees.add(pid, process);
  }
  {
    const auto world = WorldStop::stop(tracees, *tracees.find_process(parent), kLimit);
    EXPECT_TRUE(world) << world.error().message();
    EXPECT_TRUE(world && !world->holds(child));
  }
  const auto of_child = WorldStop::stop(tracees, *tracees.find_process(child), kLimit);
  EXPECT_FALSE(of_child) << "its own memory is another one now";
  for (const pid_t pid : {child, parent}) {
    ::kill(pid, SIGKILL);
    (void)::waitpid(pid, nullptr, __WALL);
  }
}

}  // namespace
}  // namespace sp::supervisor
