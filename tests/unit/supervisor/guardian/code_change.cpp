#include "supervisor/guardian/code_change.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
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

using arch::NativeLivePatch;
using core::Address;

constexpr std::size_t kHead = NativeLivePatch::kWait.size();
using Head = std::array<std::byte, kHead>;

/// What a CPU that executes the code sees of it, as far as another thread's loads can tell.
TEST(CodeChange, first_bytes_are_never_seen_in_part) {
  constexpr std::size_t kSize = 4096;
  void* const page =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const core::UniqueFd memory(::open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  const Head old{std::byte{1}, std::byte{1}};
  const Head next{std::byte{2}, std::byte{2}};
  for (std::uint64_t at = 0; at <= 64; at += kHead == 2 ? 1 : kHead) {
    auto* const place = static_cast<std::byte*>(page) + at;
    CodeChange change{Address{std::bit_cast<std::uint64_t>(place)}, 5, {}, {}};
    if (is_held_by_breakpoint(change.address)) {
      continue;
    }
    std::memcpy(change.from.data(), old.data(), kHead);
    std::memcpy(change.to.data(), next.data(), kHead);
    std::memcpy(place, old.data(), kHead);
    std::atomic<bool> is_over{false};
    std::uint64_t torn = 0;
    std::thread reader([&] {
      while (!is_over.load(std::memory_order_relaxed)) {
        Head now{};
        std::memcpy(now.data(), place, kHead);  // one load
        __asm__ volatile("" ::: "memory");
        torn += now != old && now != next && now != NativeLivePatch::kWait ? 1 : 0;
      }
    });
    constexpr int kRounds = 300;
    for (int round = 0; round < kRounds; ++round) {
      for (const CodeChange& one : {change, change.reversed()}) {
        for (const ChangeStep step : {ChangeStep::hold, ChangeStep::tail, ChangeStep::head}) {
          EXPECT_TRUE(take_step(memory.get(), std::span(&one, 1), step));
        }
      }
    }
    is_over = true;
    reader.join();
    EXPECT_EQ(torn, 0U) << "at " << at;
  }
  ::munmap(page, kSize);
}

TEST(CodeChange, holds_by_a_breakpoint_only_what_lies_across_cache_lines) {
  for (std::uint64_t at = 4096; at < 4096 + 2 * NativeLivePatch::kLine; at += 4) {
    EXPECT_FALSE(is_held_by_breakpoint(Address{at}));
  }
  const bool crosses = kHead == 2;
  EXPECT_EQ(is_held_by_breakpoint(Address{4096 + 63}), crosses);
  EXPECT_FALSE(is_held_by_breakpoint(Address{4096 + 62}));
  EXPECT_FALSE(is_held_by_breakpoint(Address{4096 + 7}));
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

TEST(CodeChange, cannot_be_written_where_there_is_no_memory) {
  const CodeChange change{Address{4096}, 5, {}, {}};
  EXPECT_FALSE(take_step(-1, std::span(&change, 1), ChangeStep::hold));
  EXPECT_TRUE(read_changes(-1, std::span(&change, 1)).empty());
}

}  // namespace
}  // namespace sp::supervisor
