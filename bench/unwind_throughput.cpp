// How many stacks a second the unwinder unwinds: stops a program at known depths, copies its stack
// once, and unwinds the copy again and again.
//
//   unwind_throughput PROGRAM [ARGS...]     that program, stopped after 100 ms
//   unwind_throughput                       this program, stopped at depths 5, 20, 50 and 200

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "live/support_capture.h"
#include "supervisor/unwinding/stack_resolver.h"

namespace sp {
namespace {

constexpr core::Duration kMeasured = std::chrono::milliseconds(500);

/// A stack of `depth` frames of this program above those of libc.
__attribute__((noinline)) int recurse(int depth) {
  volatile int below = depth;
  if (depth > 0) {
    below = recurse(depth - 1) + 1;
  } else {
    std::raise(SIGTRAP);
  }
  return below;
}

void measure(const test::CapturedProgram& program, const std::string& name) {
  const auto raw = program.raw_stack();
  const core::ProcessId process{program.pid(), 1};
  supervisor::StackResolver resolver({});
  const auto cold_start = core::Clock::now();
  const auto stack = resolver.resolve(process, program.tid(), raw);
  const auto warm_start = core::Clock::now();
  std::uint64_t stacks = 0;
  auto now = warm_start;
  while (now - warm_start < kMeasured) {
    for (int i = 0; i < 100; ++i) {
      (void)resolver.resolve(process, program.tid(), raw);
    }
    stacks += 100;
    now = core::Clock::now();
  }
  const double seconds = core::seconds(now - warm_start);
  const auto frames = static_cast<double>(stack.frames.size());
  fmt::print(
      "{}: {} frames{}, first stack {} us, then {:.0f} stacks/s, {:.2f} us a stack, {:.0f} ns a "
      "frame\n",
      name, stack.frames.size(), core::is_truncated(stack.end) ? " (truncated)" : "",
      core::microseconds(warm_start - cold_start), static_cast<double>(stacks) / seconds,
      seconds * 1e6 / static_cast<double>(stacks),
      seconds * 1e9 / static_cast<double>(stacks) / frames);
}

int measure_program(const std::vector<std::string>& command) {
  test::CapturedProgram program(command);
  constexpr std::int64_t kWarmUp = 100'000;  // microseconds
  if (!program.started() || !program.run_for_microseconds(kWarmUp)) {
    fmt::print(stderr, "unwind_throughput: {} ended too early\n", command.front());
    return 1;
  }
  measure(program, command.front());
  return 0;
}

std::string own_path() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), static_cast<std::size_t>(length > 0 ? length : 0)};
}

}  // namespace
}  // namespace sp

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--recurse") == 0) {
    return sp::recurse(std::atoi(argv[2])) == -1 ? 1 : 0;
  }
  if (argc > 1) {
    return sp::measure_program({argv + 1, argv + argc});
  }
  for (const int depth : {5, 20, 50, 200}) {
    sp::test::CapturedProgram program({sp::own_path(), "--recurse", std::to_string(depth)});
    if (!program.started() || !program.run_to_breakpoint()) {
      return 1;
    }
    sp::measure(program, fmt::format("recursion of {}", depth));
  }
  return 0;
}
