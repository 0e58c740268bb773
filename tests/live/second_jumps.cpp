// What the guardian does about a thread that has lost its CPU between a jump to a copy and the
// second jump that it leads to.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "arch/native.h"
#include "core/fd.h"
#include "core/page.h"
#include "supervisor/guardian/restoration.h"

namespace sp::supervisor {
namespace {

constexpr bool kIsX86 = arch::Native::kBreakpoint.size() == 1;
/// A jump to itself.
constexpr std::array<std::byte, 4> kLoop =
    kIsX86 ? std::array{std::byte{0xEB}, std::byte{0xFE}, std::byte{0x55}, std::byte{0x55}}
           : std::array{std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x14}};

/// A child that loops: in the place of a second jump, or elsewhere. Has that place at the address
/// at which this process has it.
class Looping {
 public:
  explicit Looping(bool in_place)
      : place_(::mmap(nullptr, core::kPageSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    change_ = {core::Address{reinterpret_cast<std::uintptr_t>(place_)},
               CodeChange::kLongest,
               {},
               {},
               true};
    change_.from.fill(std::byte{0x55});
    std::copy(kLoop.begin(), kLoop.end(), change_.from.begin());
    std::memcpy(place_, change_.from.data(), change_.size);
    child_ = ::fork();
    if (child_ == 0) {
      if (in_place) {
        reinterpret_cast<void (*)()>(place_)();
      }
      for (volatile bool forever = true; forever;) {
      }
    }
    memory_ =
        core::UniqueFd(::open(fmt::format("/proc/{}/mem", child_).c_str(), O_RDWR | O_CLOEXEC));
    ::usleep(50'000);  // it loops by now
  }
  Looping(const Looping&) = delete;
  Looping& operator=(const Looping&) = delete;
  ~Looping() {
    kill();
    ::munmap(place_, core::kPageSize);
  }

  /// As a thread that gets no CPU.
  [[nodiscard]] bool stop() const {
    ::kill(child_, SIGSTOP);
    int status = 0;
    return ::waitpid(child_, &status, WUNTRACED) == child_ && WIFSTOPPED(status);
  }
  void kill() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(std::exchange(child_, 0), nullptr, 0);
    }
  }
  void restore() const {
    Journal journal;
    const SpaceMemory memory{journal.new_space(), memory_.get()};
    (void)journal.add_change(memory.space, change_);
    HeldGates held;
    restore_memories(journal, std::span(&memory, 1), 0, held);
  }
  [[nodiscard]] bool has(const std::array<std::byte, CodeChange::kLongest>& bytes) const {
    std::array<std::byte, CodeChange::kLongest> there{};
    EXPECT_EQ(::pread(memory_.get(), there.data(), there.size(),
                      static_cast<off_t>(change_.address.value())),
              static_cast<ssize_t>(there.size()));
    return there == bytes;
  }
  [[nodiscard]] const CodeChange& change() const { return change_; }

 private:
  void* place_;
  CodeChange change_;
  pid_t child_ = 0;
  core::UniqueFd memory_;
};

TEST(SecondJumps, are_there_until_a_thread_that_stands_in_one_has_left_it) {
  Looping child(true);
  ASSERT_TRUE(child.stop());
  std::thread guardian([&] { child.restore(); });
  // Two grace periods take a tenth of that.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(child.has(child.change().from));
  child.kill();
  guardian.join();
}

TEST(SecondJumps, do_not_wait_for_a_thread_that_is_stopped_elsewhere) {
  const Looping child(false);
  ASSERT_TRUE(child.stop());
  const auto begun = std::chrono::steady_clock::now();
  child.restore();
  EXPECT_TRUE(child.has(child.change().to));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(1900))
      << "it gave up waiting";
}

TEST(SecondJumps, go_once_each_thread_has_had_a_cpu) {
  const Looping child(false);
  child.restore();
  EXPECT_TRUE(child.has(child.change().to));
}

}  // namespace
}  // namespace sp::supervisor
