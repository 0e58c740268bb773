// tree_lines [NODES [ROUNDS]]
//
// What --emit costs us: a calling-context tree of NODES (10,000) nodes, of 1,000 functions, is made
// into a line ROUNDS (25) times, with what goes with it, and put into a socket. Prints the median
// CPU time of the profiler thread for it and the longest, if all nodes have news, and if every
// hundredth has.

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "block_namer.h"
#include "core/fd.h"
#include "profiler/emitter/emitter.h"

namespace {

using sp::core::ModuleId;
using sp::core::TraceEvent;
using sp::core::TraceEventKind;
using sp::profiler::ContextTree;

constexpr std::uint32_t kFunctions = 1000;
constexpr std::uint64_t kFunctionSize = 64;
constexpr ModuleId kProgram{1};

double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// A call tree: node 0 is the program's first function, a parent has a smaller number.
class Calls {
 public:
  explicit Calls(std::size_t nodes) : callees_(nodes), functions_(nodes) {
    std::mt19937_64 random(1);
    for (std::size_t node = 1; node < nodes; ++node) {
      // Of two, the one that was made last: deeper than by chance, as programs are.
      const std::size_t parent = std::max(random() % node, random() % node);
      callees_[parent].push_back(node);
      functions_[node] = static_cast<std::uint32_t>(random() % kFunctions);
    }
  }
  /// One call of each node, or of each that `step` divides and of all that lead to it.
  [[nodiscard]] sp::core::TraceEventsTaken events(std::size_t step) const {
    sp::core::TraceEventsTaken taken;
    taken.thread = {1, 1};
    for (std::uint32_t function = 0; function < kFunctions; ++function) {
      taken.batch.functions.push_back({{kProgram, function * kFunctionSize}, kFunctionSize});
    }
    std::vector<bool> wanted(callees_.size());
    for (std::size_t node = callees_.size(); node-- > 0;) {
      wanted[node] =
          node % step == 0 || std::any_of(callees_[node].begin(), callees_[node].end(),
                                          [&](std::size_t callee) { return wanted[callee]; });
    }
    add(taken, wanted, 0, std::uint64_t{1} << 20U);
    return taken;
  }

 private:
  void add(sp::core::TraceEventsTaken& taken, const std::vector<bool>& wanted, std::size_t node,
           std::uint64_t sp) const {
    constexpr std::uint64_t kFrame = 64;
    auto& batch = taken.batch;
    batch.sites.push_back({kProgram, functions_[node] * kFunctionSize + node % kFunctionSize});
    batch.events.push_back(
        TraceEvent::at(TraceEventKind::entry, batch.sites.size() - 1, functions_[node], sp));
    for (const std::size_t callee : callees_[node]) {
      if (wanted[callee]) {
        add(taken, wanted, callee, sp - kFrame);
      }
    }
    batch.events.push_back(TraceEvent::at(TraceEventKind::ret, 0, functions_[node], sp));
  }

  std::vector<std::vector<std::size_t>> callees_;
  std::vector<std::uint32_t> functions_;
};

/// Reads what there is; returns how much it was.
std::size_t drain(int fd) {
  std::array<char, 65536> bytes{};
  std::size_t all = 0;
  for (ssize_t size = 0; (size = ::recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0;) {
    all += static_cast<std::size_t>(size);
  }
  return all;
}

class Bench {
 public:
  explicit Bench(std::size_t nodes) : calls_(nodes) {
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
      std::perror("socketpair");
      std::exit(1);
    }
    reader_.reset(fds[1]);
    sp::profiler::EmitOptions options;
    options.fd = fds[0];
    sp::core::Module program;
    program.id = kProgram;
    program.kind = sp::core::ModuleKind::file;
    program.path = "/usr/bin/program";
    program.build_id = "00ff10";
    ids_.add(program);
    tree_.add(sp::core::ModuleSeen{program});
    facts_.pid = ::getpid();
    emitter_.emplace(
        options,
        sp::profiler::Emitter::Run{sp::core::Clock::now(), "0.1.0", [this] { return facts_; }},
        tree_, ids_, namer_);
    emitter_->add(program);
    emitter_->step(sp::core::Clock::now());  // hello
    (void)drain(reader_.get());
  }

  /// The first profile has the names of all functions.
  void measure(const char* what, std::size_t step, std::size_t rounds) {
    const sp::core::TraceEventsTaken news = calls_.events(step);
    std::vector<double> times;
    std::size_t bytes = 0;
    for (std::size_t round = 0; round < rounds; ++round) {
      tree_.add(news);
      emitter_->send_now();
      const double begin = cpu_ms();
      emitter_->step(sp::core::Clock::now());
      times.push_back(cpu_ms() - begin);
      bytes = 0;
      while (const std::size_t more = drain(reader_.get())) {
        bytes += more;
        emitter_->step(sp::core::Clock::now());
      }
    }
    std::sort(times.begin(), times.end());
    std::printf("%-28s %8zu nodes %9zu bytes  %6.2f ms, at most %.2f ms\n", what,
                tree_.nodes().all().size() - 1, bytes, times[times.size() / 2], times.back());
  }

 private:
  Calls calls_;
  BlockNamer namer_;
  sp::profiler::TreeIds ids_;
  ContextTree tree_{{}, namer_};
  sp::core::RunFacts facts_;
  sp::core::UniqueFd reader_;
  std::optional<sp::profiler::Emitter> emitter_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::size_t nodes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000;
  const std::size_t rounds = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 25;
  constexpr std::size_t kFew = 100;
  Bench bench(nodes);
  bench.measure("the first one, with names", 1, 1);
  bench.measure("all have news", 1, rounds);
  bench.measure("every hundredth has news", kFew, rounds);
}
