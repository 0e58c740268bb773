// What one sampling stop costs the target: superprofiler against a plain loop of the same ptrace
// requests.
//
// A child does a fixed amount of work. The additional time that it takes with a sampler, divided by
// the number of stops, is the cost of a stop. It includes the interrupt, the two context switches
// and the cold caches after them. All samplers run in turn, in several rounds, and the medians are
// printed; on a shared machine only ratios within one run are meaningful.
#include <elf.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "arch/native.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/supervisor.h"

namespace {

using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

std::uint64_t g_rounds = 0;
microseconds g_interval{1000};

/// The target's work, which touches 8 KiB of stack, as programs do.
void work() {
  std::array<volatile std::uint64_t, 1024> cells{};
  std::uint64_t x = 1;
  for (std::uint64_t i = 0; i < g_rounds; ++i) {
    x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    cells[x >> 54U] = x;
  }
}

void pin(pid_t tid, int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  ::sched_setaffinity(tid, sizeof cpus, &cpus);
}

struct Measured {
  double seconds = 0;
  std::uint64_t stops = 0;
};

/// Forks the target, runs `sample` on it, and times it from start to end.
Measured run(const std::function<std::uint64_t(pid_t)>& sample) {
  int go[2];
  if (::pipe(go) != 0) {
    std::abort();
  }
  const pid_t child = ::fork();
  if (child == 0) {
    char word = 0;
    ::close(go[1]);
    [[maybe_unused]] const auto got = ::read(go[0], &word, 1);
    work();
    ::_exit(0);
  }
  ::close(go[0]);
  Measured measured;
  const auto start = Clock::now();
  ::close(go[1]);
  measured.stops = sample(child);
  measured.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return measured;
}

std::uint64_t bare(pid_t child) {
  ::waitpid(child, nullptr, 0);
  return 0;
}

/// The baseline: SIGSTOP from a thread on the other CPU; wait, siginfo, registers, 16 KiB of stack,
/// continue on the target's own CPU. Nothing else.
std::uint64_t plain_loop(pid_t child) {
  using Registers = sp::arch::Native::Registers;
  ::ptrace(PTRACE_SEIZE, child, nullptr, nullptr);
  pin(child, 0);
  pin(0, 0);
  std::atomic<bool> stop{false};
  std::atomic<bool> in_flight{false};
  std::thread timer([&] {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    pin(0, 1);
    auto next = Clock::now();
    while (!stop) {
      next += g_interval;
      std::this_thread::sleep_until(next);
      if (!stop && !in_flight.exchange(true)) {
        ::syscall(SYS_tgkill, child, child, SIGSTOP);
      }
    }
  });
  std::uint64_t stops = 0;
  std::vector<char> stack(16384);
  int status = 0;
  while (::waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
    siginfo_t info{};
    ::ptrace(PTRACE_GETSIGINFO, child, nullptr, &info);
    Registers registers{};
    iovec piece{&registers, sizeof registers};
    ::ptrace(PTRACE_GETREGSET, child, reinterpret_cast<void*>(NT_PRSTATUS), &piece);
    iovec local{stack.data(), stack.size()};
    iovec remote{reinterpret_cast<void*>(sp::arch::Native::sp(registers).value()), stack.size()};
    [[maybe_unused]] const auto copied = ::process_vm_readv(child, &local, 1, &remote, 1, 0);
    ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
    in_flight = false;
    ++stops;
  }
  stop = true;
  timer.join();
  cpu_set_t all;
  CPU_ZERO(&all);
  CPU_SET(0, &all);
  CPU_SET(1, &all);
  ::sched_setaffinity(0, sizeof all, &all);
  return stops;
}

std::uint64_t ours(pid_t child, sp::supervisor::Guardian& guardian, bool follow_cpu,
                   sp::supervisor::StopWith stop_with) {
  using namespace sp;
  supervisor::SupervisorOptions options;
  options.pids = {child};
  options.timer.interval = g_interval;
  options.timer.overhead_percent = 0;
  options.timer.follow_cpu = follow_cpu;
  options.timer.stop_with = stop_with;
  core::Channel<core::StopEvent> events(1024);
  core::Channel<core::Request> requests(16);
  supervisor::Supervisor supervisor(options, guardian, events, requests);
  if (!supervisor.prepare()) {
    std::abort();
  }
  std::thread reader([&] {
    while (events.pop()) {
    }
  });
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  {
    std::jthread timer(
        [&](const std::stop_token& token) { supervisor.timer().run(token, self, {}); });
    supervisor.begin();
    supervisor.run();
  }
  reader.join();
  cpu_set_t all;
  CPU_ZERO(&all);
  CPU_SET(0, &all);
  CPU_SET(1, &all);
  ::sched_setaffinity(0, sizeof all, &all);
  core::RunFacts facts;
  supervisor.fill(facts);
  return facts.cost.stops;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  if (argc > 2) {
    g_interval = microseconds(std::atoi(argv[2]));
  }
  sp::supervisor::block_control_signals();
  auto guardian = sp::supervisor::Guardian::start();
  if (!guardian) {
    return 1;
  }
  g_rounds = 20'000'000;
  const double probe = std::min({run(bare).seconds, run(bare).seconds, run(bare).seconds});
  g_rounds = static_cast<std::uint64_t>(static_cast<double>(g_rounds) * 1.5 / probe);

  using sp::supervisor::StopWith;
  struct Way {
    const char* name;
    std::function<std::uint64_t(pid_t)> sample;
    std::vector<double> seconds;
    std::vector<double> per_stop;
  };
  std::vector<Way> ways = {
      {"no sampler", bare, {}, {}},
      {"the bare requests in a plain loop", plain_loop, {}, {}},
      {"ours", [&](pid_t c) { return ours(c, *guardian, true, StopWith::sigstop); }, {}, {}},
      {"ours, not following the CPU",
       [&](pid_t c) { return ours(c, *guardian, false, StopWith::sigstop); },
       {},
       {}},
      {"ours, --stop-with interrupt",
       [&](pid_t c) { return ours(c, *guardian, true, StopWith::interrupt); },
       {},
       {}},
  };
  for (int round = 0; round < rounds; ++round) {
    double without = 0;
    for (Way& way : ways) {
      const Measured measured = run(way.sample);
      way.seconds.push_back(measured.seconds);
      if (measured.stops == 0) {
        without = measured.seconds;
      } else {
        way.per_stop.push_back((measured.seconds - without) * 1e6 /
                               static_cast<double>(measured.stops));
      }
    }
  }
  const double without = median(ways[0].seconds);
  const double floor = median(ways[1].per_stop);
  fmt::print("one stop every {} us, {} rounds, medians\n\n", g_interval.count(), rounds);
  fmt::print("| sampler | run | slowdown | a stop costs | against the plain loop |\n");
  fmt::print("|---|---|---|---|---|\n");
  for (const Way& way : ways) {
    const double seconds = median(way.seconds);
    fmt::print("| {} | {:.3f} s | {:+.1f} % |", way.name, seconds,
               100 * (seconds - without) / without);
    if (way.per_stop.empty()) {
      fmt::print(" | |\n");
    } else {
      fmt::print(" {:.1f} us | {:.2f} |\n", median(way.per_stop), median(way.per_stop) / floor);
    }
  }
  return 0;
}
