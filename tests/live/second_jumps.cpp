// What the guardian does about a thread that has lost its CPU between a jump to a copy and the
// second jump that it leads to.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "core/fd.h"
#include "supervisor/guardian/restoration.h"

namespace sp::supervisor {
namespace {

using Bytes = std::array<std::byte, CodeChange::kLongest>;

/// In the place of a second jump. The child has it at the same address.
alignas(64) Bytes place{};

TEST(SecondJumps, are_there_until_each_thread_has_had_a_cpu) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (volatile bool forever = true; forever;) {
    }
  }
  // Stopped, as a thread that gets no CPU.
  ::kill(child, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  const core::UniqueFd memory(
      ::open(fmt::format("/proc/{}/mem", child).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(memory.valid());
  const auto at = reinterpret_cast<std::uintptr_t>(&place);
  CodeChange change{core::Address{at}, place.size(), {}, {}, true};
  change.from.fill(std::byte{0x55});
  ASSERT_EQ(::pwrite(memory.get(), change.from.data(), change.size, static_cast<off_t>(at)),
            static_cast<ssize_t>(change.size));
  Journal journal;
  const SpaceMemory of_child{journal.new_space(), memory.get()};
  (void)journal.add_change(of_child.space, change);
  const auto there = [&] {
    Bytes bytes{};
    EXPECT_EQ(::pread(memory.get(), bytes.data(), bytes.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(bytes.size()));
    return bytes;
  };

  std::thread guardian([&] {
    HeldGates held;
    restore_memories(journal, std::span(&of_child, 1), 0, held);
  });
  // Two grace periods take a tenth of that.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(there(), change.from);
  ::kill(child, SIGCONT);
  guardian.join();
  EXPECT_EQ(there(), change.to);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace sp::supervisor
