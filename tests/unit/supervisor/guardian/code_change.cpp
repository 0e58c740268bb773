#include "supervisor/guardian/code_change.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <thread>
#include <vector>

#include "arch/native.h"
#include "core/fd.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr bool kIsX86 = arch::Native::kBreakpoint.size() == 1;

/// As the injected handler does.
void go_back(int /*signal*/, siginfo_t* /*info*/, void* context) {
#ifdef __x86_64__
  --static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
#else
  (void)context;
#endif
}

constexpr int kOther = kIsX86 ? 0x01020304 : 57;

/// A function that returns 56 or kOther: an instruction of it changes while a thread executes it.
class Changing {
 public:
  explicit Changing(std::size_t at)
      : page_(static_cast<std::byte*>(::mmap(nullptr, kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    constexpr auto kX86 = std::to_array<unsigned char>({0xB8, 0x38, 0, 0, 0, 0xC3});
    constexpr auto kArm = std::to_array<unsigned char>(
        {0x00, 0x07, 0x80, 0x52, 0xC0, 0x03, 0x5F, 0xD6});  // mov w0, #56; ret
    std::byte* const place = page_ + at;
    std::memcpy(place, kIsX86 ? kX86.data() : kArm.data(), kIsX86 ? kX86.size() : kArm.size());
    change_ = {Address{std::bit_cast<std::uint64_t>(place)}, kIsX86 ? 5U : 4U, {}, {}};
    std::memcpy(change_.from.data(), place, change_.size);
    change_.to = change_.from;
    if (kIsX86) {
      std::memcpy(change_.to.data() + 1, &kOther, sizeof kOther);
    } else {
      change_.to[0] |= std::byte{0x20};
    }
    __builtin___clear_cache(std::bit_cast<char*>(page_), std::bit_cast<char*>(page_ + kSize));
  }
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
  ~Changing() { ::munmap(page_, kSize); }

  [[nodiscard]] int call() const { return std::bit_cast<int (*)()>(change_.address.value())(); }
  [[nodiscard]] const CodeChange& change() const { return change_; }

 private:
  static constexpr std::size_t kSize = 4096;
  std::byte* page_;
  CodeChange change_;
};

/// Kernels write what is longer than a byte in pieces on some CPUs, most often where the CPU that
/// executes the code has not been disturbed for a while.
TEST(CodeChange, is_executed_as_a_whole) {
  struct sigaction action = {};
  action.sa_sigaction = go_back;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  struct sigaction before = {};
  ASSERT_EQ(::sigaction(SIGTRAP, &action, &before), 0);
  const core::UniqueFd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  for (const std::size_t at : {12U, 64U, 60U}) {
    const Changing function(at);
    std::atomic<bool> is_over{false};
    std::uint64_t wrong = 0;
    std::uint64_t calls = 0;
    std::thread caller([&] {
      while (!is_over.load(std::memory_order_relaxed)) {
        const int result = function.call();
        wrong += result != 56 && result != kOther ? 1 : 0;
        ++calls;
      }
    });
    constexpr int kRounds = 400;
    for (int round = 0; round < kRounds; ++round) {
      for (const CodeChange& one : {function.change(), function.change().reversed()}) {
        for (const ChangeStep step : {ChangeStep::hold, ChangeStep::tail, ChangeStep::head}) {
          EXPECT_TRUE(take_step(memory.get(), std::span(&one, 1), step));
          ::usleep(50);
        }
      }
    }
    is_over = true;
    caller.join();
    EXPECT_EQ(wrong, 0U) << "at " << at;
    EXPECT_GT(calls, 0U);
  }
  EXPECT_EQ(::sigaction(SIGTRAP, &before, nullptr), 0);
}

TEST(CodeChange, of_a_second_jump_lets_nobody_wait) {
  constexpr std::size_t kSize = 5;
  std::array<std::byte, 64> place{};
  const core::UniqueFd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  CodeChange change{Address{std::bit_cast<std::uint64_t>(place.data())}, kSize, {}, {}, true};
  change.to.fill(std::byte{7});
  const auto there = [&](ChangeStep step, const CodeChange& one) {
    EXPECT_TRUE(take_step(memory.get(), std::span(&one, 1), step));
    const auto bytes = read_changes(memory.get(), std::span(&one, 1)).at(0).there;
    return std::vector<std::byte>(bytes.begin(), bytes.begin() + kSize);
  };
  const std::vector<std::byte> old(kSize);
  const std::vector<std::byte> jump(kSize, std::byte{7});
  EXPECT_EQ(there(ChangeStep::hold, change), old);
  EXPECT_EQ(there(ChangeStep::tail, change), jump);
  EXPECT_EQ(there(ChangeStep::head, change), jump);
  EXPECT_EQ(there(ChangeStep::hold, change.reversed()), jump);
  EXPECT_EQ(there(ChangeStep::tail, change.reversed()), old);
  EXPECT_EQ(there(ChangeStep::head, change.reversed()), old);
}

TEST(CodeChange, is_followed_by_a_visit_to_every_cpu) {
  EXPECT_FALSE(visit_every_cpu()) << "without a real-time priority";
  cpu_set_t may;
  ASSERT_EQ(::sched_getaffinity(0, sizeof may, &may), 0);
  const sched_param first{1};
  if (CPU_COUNT(&may) != ::get_nprocs() || ::sched_setscheduler(0, SCHED_FIFO, &first) != 0) {
    GTEST_SKIP() << "may not run everywhere at once";
  }
  constexpr int kTries = 50;  // a host may take a CPU away
  bool is_done = false;
  for (int i = 0; i < kTries && !is_done; ++i) {
    is_done = visit_every_cpu();
  }
  EXPECT_TRUE(is_done);
  const sched_param ordinary{};
  EXPECT_EQ(::sched_setscheduler(0, SCHED_OTHER, &ordinary), 0);
}

TEST(CodeChange, cannot_be_written_where_there_is_no_memory) {
  const CodeChange change{Address{4096}, 5, {}, {}};
  EXPECT_FALSE(take_step(-1, std::span(&change, 1), ChangeStep::hold));
  EXPECT_TRUE(read_changes(-1, std::span(&change, 1)).empty());
}

}  // namespace
}  // namespace sp::supervisor
