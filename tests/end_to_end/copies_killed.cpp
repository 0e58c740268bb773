// SIGKILL of superprofiler while threads turn in copies of loops that call nothing: soon no thread
// is in a copy any more. tests/stress/kill_rounds.sh does it to real programs.
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/fd.h"
#include "core/mapping.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

using arch::Native;
using core::Address;

/// Executable memory of no file.
std::vector<core::AddressRange> anonymous_code_of(pid_t pid) {
  std::vector<core::AddressRange> ranges;
  for (const core::Mapping& mapping :
       core::parse_maps(read_file("/proc/" + std::to_string(pid) + "/maps"))) {
    if (mapping.executable && mapping.path.empty()) {
      ranges.push_back(mapping.range);
    }
  }
  return ranges;
}

/// Stops the thread for a moment. Nothing if it has ended.
std::optional<Address> pc_of(pid_t tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
    return std::nullopt;
  }
  Native::Registers registers{};
  iovec all{&registers, sizeof registers};
  int status = 0;
  const bool is_read = ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) == 0 &&
                       ::waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status) &&
                       ::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &all) == 0;
  ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
  return is_read ? std::optional(Native::pc(registers)) : std::nullopt;
}

/// The process has memory for copies, and none of its threads is there.
bool has_left_copies(pid_t pid) {
  const auto copies = anonymous_code_of(pid);
  const auto threads = threads_of(pid);
  return !copies.empty() && std::all_of(threads.begin(), threads.end(), [&](pid_t tid) {
    const auto pc = pc_of(tid);
    return pc && std::none_of(copies.begin(), copies.end(),
                              [&](core::AddressRange range) { return range.contains(*pc); });
  });
}

class CopiesKilled : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Native::kHasCopies) {
      GTEST_SKIP() << "no copies on this CPU";
    }
  }

  static void expect_left(pid_t launched, int round) {
    std::vector<pid_t> processes = children_of(launched);
    processes.push_back(launched);
    for (const pid_t pid : processes) {
      EXPECT_TRUE(eventually([&] { return has_left_copies(pid); }, std::chrono::seconds(20)))
          << "round " << round << ", process " << pid;
      EXPECT_TRUE(eventually([&] { return changed_text(pid).empty(); }))
          << "round " << round << ", process " << pid << ": " << changed_text(pid);
    }
  }
  /// Ends the program, whose parent is this test by now.
  static void expect_right(Running& profiler, pid_t launched, int round) {
    profiler.close_input();
    int status = -1;
    EXPECT_TRUE(eventually([&] { return ::waitpid(launched, &status, WNOHANG) == launched; }));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "round " << round << ": " << status;
    EXPECT_TRUE(eventually([&] { return profiler.out().ends_with("right\n"); }))
        << "round " << round << ": " << profiler.out();
  }

  std::minstd_rand random_{3};
  TempDir directory_;
};

TEST_F(CopiesKilled, nobody_stays_in_a_loop_of_a_copy) {
  for (int round = 0; round < scaled(10) && !HasFailure(); ++round) {
    Running profiler(
        superprofiler(directory_, {"-q", "-a", "--overwrite"}, {target("callless_loops")}));
    ASSERT_TRUE(profiler.says("fast\n")) << profiler.err();
    const pid_t launched = launched_by(profiler.pid());
    ::usleep(static_cast<useconds_t>(random_() % 20'000));  // a random moment
    profiler.signal(SIGKILL);
    (void)profiler.wait();
    expect_left(launched, round);
    expect_right(profiler, launched, round);
  }
}

TEST_F(CopiesKilled, nobody_stays_in_a_loop_of_a_copy_of_a_child) {
  // Where threads wait long for the CPU it takes minutes until all loops have their copies.
  const int children = patience_factor() > 1 ? 1 : 2;
  for (int round = 0; round < scaled(5) && !HasFailure(); ++round) {
    Running profiler(superprofiler(directory_, {"-q", "-a", "--overwrite"},
                                   {target("callless_loops"), std::to_string(children)}));
    ASSERT_TRUE(profiler.says("fast\n")) << profiler.err();
    for (int child = 0; child < children; ++child) {
      ASSERT_TRUE(profiler.says("child " + std::to_string(child) + "\n")) << profiler.err();
    }
    const pid_t launched = launched_by(profiler.pid());
    profiler.signal(SIGKILL);
    (void)profiler.wait();
    expect_left(launched, round);
    expect_right(profiler, launched, round);
  }
}

/// The byte that tells a jump to a copy: of x86-64's jmp the first one, of AArch64's b the last.
bool is_of_jump(std::size_t at, char byte) {
  if (Native::kName == "x86_64") {
    return byte == '\xE9';
  }
  constexpr unsigned kOpcode = 0xFC;
  return at % 4 == 3 && (static_cast<unsigned char>(byte) & kOpcode) == 0x14;
}

/// Tells when jumps to copies are written to a program's text.
class JumpWatch {
 public:
  explicit JumpWatch(pid_t pid)
      : memory_(::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {
    for (const core::Mapping& mapping :
         core::parse_maps(read_file("/proc/" + std::to_string(pid) + "/maps"))) {
      if (mapping.executable && mapping.path == target("steady")) {
        begin_ = mapping.range.begin;
        original_ = read_file(mapping.path).substr(mapping.file_offset, mapping.range.size());
      }
    }
  }

  /// How many there are.
  [[nodiscard]] int jumps() const {
    std::string now(original_.size(), '\0');
    const ssize_t size =
        ::pread(memory_.get(), now.data(), now.size(), static_cast<off_t>(begin_.value()));
    int jumps = 0;
    for (ssize_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      jumps += is_of_jump(at, now[at]) && !is_of_jump(at, original_[at]) ? 1 : 0;
    }
    return jumps;
  }

 private:
  core::UniqueFd memory_;
  Address begin_;
  std::string original_;
};

// Threads have met probes at that moment, and superprofiler has not seen it yet.
TEST_F(CopiesKilled, threads_at_breakpoints_do_not_come_into_jumps) {
  const Words often = {"-q", "--overwrite", "-i", std::to_string(spaced(20)), "--overhead", "0"};
  for (int round = 0; round < scaled(20) && !HasFailure(); ++round) {
    Running profiler(superprofiler(directory_, often, {target("steady"), "3"}));
    ASSERT_TRUE(profiler.says("ready\n")) << profiler.err();
    const pid_t launched = launched_by(profiler.pid());
    const JumpWatch watch(launched);
    const int before = watch.jumps();
    (void)eventually([&] { return watch.jumps() > before; }, std::chrono::milliseconds(300));
    profiler.signal(SIGKILL);
    (void)profiler.wait();
    EXPECT_TRUE(eventually([&] { return changed_text(launched).empty(); })) << "round " << round;
    expect_right(profiler, launched, round);
  }
}

}  // namespace
}  // namespace sp::end_to_end
