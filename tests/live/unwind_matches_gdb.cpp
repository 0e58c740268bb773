#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "live/support_capture.h"
#include "live/support_resolve.h"

namespace sp::supervisor {
namespace {

using test::CapturedProgram;
using test::Resolved;

constexpr const char* kWalk = R"(
set confirm off
set backtrace past-main on
set backtrace past-entry on
set backtrace limit 1024
python
frame = gdb.newest_frame()
while frame is not None:
    if frame.type() != gdb.INLINE_FRAME:
        print('PC %x' % frame.pc())
    try:
        frame = frame.older()
    except gdb.error:
        break
end
)";

/// The pcs of the first thread's frames as gdb sees them, innermost first.
std::vector<std::uint64_t> gdb_frames(pid_t pid) {
  const auto script = std::filesystem::temp_directory_path() / fmt::format("unwind-{}.gdb", pid);
  std::ofstream(script) << kWalk;
  const auto command = fmt::format("gdb -nx -batch -p {} -x {} 2>/dev/null", pid, script.string());
  std::vector<std::uint64_t> frames;
  FILE* output = ::popen(command.c_str(), "r");
  char line[4096];
  while (output != nullptr && std::fgets(line, sizeof(line), output) != nullptr) {
    unsigned long long pc = 0;
    if (std::sscanf(line, "PC %llx", &pc) == 1) {
      frames.push_back(pc);
    }
  }
  if (output != nullptr) {
    ::pclose(output);
  }
  std::filesystem::remove(script);
  return frames;
}

struct RealProgram {
  std::string name;
  std::vector<std::string> argv;
};

void PrintTo(const RealProgram& program, std::ostream* out) { *out << program.name; }

class UnwindRealProgram : public testing::TestWithParam<RealProgram> {};

TEST_P(UnwindRealProgram, sees_what_gdb_sees) {
  const auto& argv = GetParam().argv;
  if (::access("/usr/bin/gdb", X_OK) != 0 || ::access(argv.front().c_str(), X_OK) != 0) {
    GTEST_SKIP() << "gdb or " << argv.front() << " is not installed";
  }
  constexpr int kStops = 6;
  for (int i = 0; i < kStops; ++i) {
    CapturedProgram program(argv, 120'000 + 37'000 * i);
    ASSERT_TRUE(program.started());
    Resolved resolved(1024);
    const auto stack = resolved.stack(program, program.raw_stack());
    program.release();
    std::vector<std::uint64_t> ours;
    for (const core::Frame& frame : stack.frames) {
      ours.push_back(resolved.address(frame));
    }
    const auto theirs = gdb_frames(program.pid());
    EXPECT_EQ(stack.end, core::StackEnd::root);
    EXPECT_EQ(ours, theirs) << "stop " << i;
    fmt::print("{}: {} frames, gdb {}\n", GetParam().name, ours.size(), theirs.size());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, UnwindRealProgram,
    testing::Values(
        RealProgram{
            "python",
            {"/usr/bin/python3", "-c",
             "def f(n):\n return f(n-1)+1 if n else len(sorted(range(2000),key=lambda x:-x))"
             "\nwhile 1: f(20)"}},
        RealProgram{"sqlite",
                    {"/usr/bin/sqlite3", ":memory:",
                     "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE "
                     "x<900000000) SELECT count(*), sum(x*x%7), max(hex(x)) FROM c;"}},
        RealProgram{"xz", {"/bin/sh", "-c", "exec xz -9 -c -T1 /usr/bin/gdb"}},
        RealProgram{"perl",
                    {"/usr/bin/perl", "-e",
                     "sub f{my$n=shift;$n?f($n-1):join(',',sort 1..99)}f(9)while 1"}},
        RealProgram{"sleep", {"/usr/bin/sleep", "100"}}),
    [](const auto& program) { return program.param.name; });

}  // namespace
}  // namespace sp::supervisor
