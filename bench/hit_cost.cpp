// What one breakpoint hit costs the program: with superprofiler, with a minimal ptrace loop, with
// gdb's `ignore` and with a uprobe. A function of one block is called HITS times; the cost is the
// additional time, divided by the calls.
// Arguments: SUPERPROFILER [HITS [ROUNDS]]
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

extern "C" __attribute__((noinline, noclone, used)) void tick() { __asm__ volatile("nop"); }

namespace {

double run_ticks(long hits) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < hits; ++i) {
    tick();
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The microseconds that a child of this shell command prints; nothing if it prints none.
std::optional<double> ticks_of(const std::string& command) {
  std::FILE* const out = ::popen(command.c_str(), "r");
  if (out == nullptr) {
    return std::nullopt;
  }
  std::optional<double> found;
  std::array<char, 4096> line{};
  while (std::fgets(line.data(), static_cast<int>(line.size()), out) != nullptr) {
    if (const char* const at = std::strstr(line.data(), "ticks: "); at != nullptr) {
      found = std::atof(at + std::strlen("ticks: "));
    }
  }
  ::pclose(out);
  return found;
}

void stay_on_this_cpu() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  (void)::sched_setaffinity(0, sizeof one, &one);
}

/// Wait, get registers, set registers, continue, on the CPU of the target. The displaced
/// instruction needs no emulation.
std::optional<double> in_a_bare_loop(long hits) {
#if defined(__x86_64__)
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    return std::nullopt;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    stay_on_this_cpu();
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    const double took = run_ticks(hits);
    (void)!::write(ends[1], &took, sizeof took);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  cpu_set_t cpu;
  ::sched_getaffinity(child, sizeof cpu, &cpu);
  cpu_set_t before;
  ::sched_getaffinity(0, sizeof before, &before);
  ::sched_setaffinity(0, sizeof cpu, &cpu);
  const auto at = reinterpret_cast<std::uintptr_t>(&tick);
  const long word = ::ptrace(PTRACE_PEEKTEXT, child, at, nullptr);
  ::ptrace(PTRACE_POKETEXT, child, at, (word & ~0xFFL) | 0xCC);
  ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  while (::waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, child, nullptr, &registers);
    ::ptrace(PTRACE_SETREGS, child, nullptr, &registers);
    ::ptrace(PTRACE_CONT, child, nullptr, nullptr);
  }
  ::sched_setaffinity(0, sizeof before, &before);
  double took = 0;
  const bool said = ::read(ends[0], &took, sizeof took) == static_cast<ssize_t>(sizeof took);
  ::close(ends[0]);
  ::close(ends[1]);
  return said ? std::optional(took) : std::nullopt;
#else
  (void)hits;
  return std::nullopt;
#endif
}

/// A counter on a uprobe, by perf_event_open(), if that is permitted.
std::optional<double> with_uprobe(const std::string& self, long hits) {
  std::ifstream type_file("/sys/bus/event_source/devices/uprobe/type");
  perf_event_attr attributes{};
  if (!(type_file >> attributes.type)) {
    return std::nullopt;
  }
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::uint64_t offset = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(&tick);
  while (std::getline(maps, line)) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long in_file = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &begin, &end, &in_file) == 3 && at >= begin &&
        at < end) {
      offset = at - begin + in_file;
    }
  }
  attributes.size = sizeof attributes;
  attributes.uprobe_path = reinterpret_cast<std::uint64_t>(self.c_str());
  attributes.probe_offset = offset;
  // On every CPU: children do not inherit it.
  std::vector<int> events;
  for (long cpu = 0; cpu < ::sysconf(_SC_NPROCESSORS_ONLN); ++cpu) {
    const long event =
        ::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (event >= 0) {
      events.push_back(static_cast<int>(event));
    }
  }
  const auto took =
      events.empty() ? std::nullopt : ticks_of(fmt::format("{} ticks {}", self, hits));
  for (const int event : events) {
    ::close(event);
  }
  return took;
}

struct Way {
  std::string name;
  std::function<std::optional<double>(long)> run;
  long share;  // of the hits, for the slow ones
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "ticks") == 0) {
    const double took = run_ticks(std::atol(argv[2]));
    std::printf("ticks: %.1f\n", took);
    return 0;
  }
  if (argc < 2) {
    return 2;
  }
  const std::string superprofiler = argv[1];
  const long hits = argc > 2 ? std::atol(argv[2]) : 200'000;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  std::array<char, 4096> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string self(path.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto under = [&](const std::string& command) {
    return [&self, command](long n) {
      return ticks_of(fmt::format("{} {} ticks {} 2>&1", command, self, n));
    };
  };
  const std::string ours = superprofiler + " -q --overwrite -o /tmp --name sp_hit_cost ";
  const std::vector<Way> ways = {
      {"bare ptrace loop", in_a_bare_loop, 1},
      {"superprofiler -a", under(ours + "-a -i 1s --only-funcs tick --"), 1},
      {"superprofiler --single (three hits)", under(ours + "--single --"), 1},
      {"gdb, break and ignore",
       under("gdb -q -nx -batch -ex 'break tick' -ex 'ignore 1 100000000' -ex run --args"), 10},
      {"uprobe", [&self](long n) { return with_uprobe(self, n); }, 1},
  };
  std::vector<std::vector<double>> costs(ways.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const long n = hits / ways[i].share;
      const double alone = run_ticks(n);
      if (const auto took = ways[i].run(n)) {
        costs[i].push_back((*took - alone) / static_cast<double>(n));
      }
    }
  }
  std::optional<double> floor;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::sort(costs[i].begin(), costs[i].end());
    if (costs[i].empty()) {
      fmt::print("{:<36} not possible here\n", ways[i].name);
      continue;
    }
    const double median = costs[i][costs[i].size() / 2];
    floor = floor.value_or(median);
    fmt::print("{:<36} {:7.2f} us a call, {:5.2f} of the bare loop\n", ways[i].name, median,
               median / *floor);
  }
  return 0;
}
