// Relocated copies that a process got after it has forked, before its child was seen.
#include "supervisor/injection/xol_area.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "supervisor/injection/code_cave.h"
#include "supervisor/injection/remote_syscall.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr std::size_t kBytes = 16;

[[gnu::noinline]] int some_code(int value) { return value + 1; }

/// A stopped process with a copy of this one's memory.
class Twin {
 public:
  Twin() : pid_(::fork()) {
    if (pid_ == 0) {
      for (;;) {
        ::pause();
      }
    }
    ptrace::bind_to_this_thread();
    EXPECT_TRUE(ptrace::seize(pid_, {}));
    EXPECT_TRUE(ptrace::interrupt(pid_));
    EXPECT_TRUE(ptrace::wait_for(pid_));
  }
  Twin(const Twin&) = delete;
  Twin& operator=(const Twin&) = delete;
  ~Twin() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] pid_t tid() const { return pid_; }
  [[nodiscard]] TargetMemory memory() const { return TargetMemory(pid_); }
  [[nodiscard]] Address call() const { return find_code_cave(pid_).value_or(Address{}); }
  [[nodiscard]] std::vector<std::byte> at(Address address) const {
    std::vector<std::byte> bytes(kBytes);
    bytes.resize(memory().read(address, bytes));
    return bytes;
  }

 private:
  pid_t pid_;
};

struct XolAreaOfChild : ::testing::Test {
  /// The address of the copy of some_code's first instruction.
  std::optional<Address> copy_in(XolArea& copies, const Twin& twin) {
    return copies.copy_of(site, twin.at(site), twin.memory(), twin.call(), twin.tid());
  }

  const Address site{reinterpret_cast<std::uint64_t>(&some_code)};  // NOLINT
  const Twin parent;
  const Twin child;
};

TEST_F(XolAreaOfChild, has_a_copy_that_was_made_since_the_fork) {
  XolArea of_parent;
  XolArea of_child;
  of_parent.make_room(site, parent.call(), parent.tid());
  of_child.make_room(site, child.call(), child.tid());
  const auto copy = copy_in(of_parent, parent);
  ASSERT_TRUE(copy);
  ASSERT_NE(child.at(*copy), parent.at(*copy));

  of_child = of_parent;
  EXPECT_TRUE(of_child.resync_child(child.memory(), child.tid(), parent.memory()).empty());
  EXPECT_EQ(child.at(*copy), parent.at(*copy));
  EXPECT_EQ(copy_in(of_child, child), copy);
}

TEST_F(XolAreaOfChild, has_room_of_its_own_where_its_parents_was_made_since_the_fork) {
  XolArea of_parent;
  const auto copy = copy_in(of_parent, parent);
  ASSERT_TRUE(copy);
  ASSERT_TRUE(child.at(*copy).empty());

  XolArea of_child = of_parent;
  const auto missing = of_child.resync_child(child.memory(), child.tid(), parent.memory());
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_TRUE(missing[0].contains(*copy));
  EXPECT_TRUE(of_child.empty());
  const auto own = copy_in(of_child, child);
  ASSERT_TRUE(own);
  EXPECT_EQ(child.at(*own).size(), kBytes);
}

TEST_F(XolAreaOfChild, leaves_alone_what_the_child_has_mapped_there_itself) {
  XolArea of_parent;
  const auto copy = copy_in(of_parent, parent);
  ASSERT_TRUE(copy);
  XolArea of_child = of_parent;
  constexpr std::uint64_t kPage = 4096;
  const Address page{copy->value() / kPage * kPage};
  const auto mapped =
      remote_syscall(child.tid(), child.call(), SYS_mmap,
                     {page.value(), kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, ~std::uint64_t{0}, 0});
  ASSERT_TRUE(mapped && *mapped == static_cast<std::int64_t>(page.value()));
  const auto before = child.at(*copy);
  EXPECT_EQ(of_child.resync_child(child.memory(), child.tid(), parent.memory()).size(), 1U);
  EXPECT_EQ(child.at(*copy), before);
}

}  // namespace
}  // namespace sp::supervisor
