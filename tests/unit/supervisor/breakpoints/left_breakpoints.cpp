#include "supervisor/breakpoints/left_breakpoints.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "arch/native.h"
#include "core/clock.h"
#include "supervisor/breakpoints/target_journal.h"

namespace sp::supervisor {
namespace {

using core::Address;
using Rescue = arch::NativeTrapHandler::Rescue;

constexpr auto& kBreakpoint = arch::Native::kBreakpoint;
constexpr std::uint32_t kOriginal = 0x11223344;

/// A handler's page in our own memory, and two places of code with breakpoints.
struct LeftBreakpoints : ::testing::Test {
  LeftBreakpoints() : page(Rescue::kBreakpoints + 4096) {
    std::memcpy(page.data(), Rescue::kCode.data(), Rescue::kCode.size());
    const std::array<TargetJournal::Entry, 3> entries = {{
        {address_of(code.data()), kOriginal, RestoreOrder::last},
        {1, kOriginal, RestoreOrder::first},  // removed
        {address_of(code.data() + 8), kOriginal, RestoreOrder::never},
    }};
    std::memcpy(page.data() + Rescue::kBreakpoints, entries.data(), sizeof entries);
    std::copy(kBreakpoint.begin(), kBreakpoint.end(), code.begin());
    std::copy(kBreakpoint.begin(), kBreakpoint.end(), code.begin() + 8);
  }
  static std::uint64_t address_of(const std::byte* at) { return std::bit_cast<std::uint64_t>(at); }
  [[nodiscard]] bool has_breakpoint(std::size_t at) const {
    return std::equal(kBreakpoint.begin(), kBreakpoint.end(),
                      code.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void restore(std::size_t at) {
    std::memcpy(code.data() + at, &kOriginal, arch::Native::kBreakpoint.size());
  }
  core::Duration wait() const {
    const core::TimePoint begin = core::Clock::now();
    await_restoration(TargetMemory(::getpid()), Address{address_of(page.data())});
    return core::Clock::now() - begin;
  }

  std::vector<std::byte> page;
  std::array<std::byte, 16> code{};
};

TEST_F(LeftBreakpoints, are_waited_for_until_the_guardian_has_restored_them) {
  std::thread guardian([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    restore(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    restore(8);
  });
  EXPECT_GE(wait(), std::chrono::milliseconds(55));
  guardian.join();
  EXPECT_FALSE(has_breakpoint(0) || has_breakpoint(8));
}

TEST_F(LeftBreakpoints, are_restored_where_nobody_else_does_but_for_those_within_jumps) {
  EXPECT_GE(wait(), std::chrono::seconds(2));
  EXPECT_EQ(std::memcmp(code.data(), &kOriginal, arch::Native::kBreakpoint.size()), 0);
  EXPECT_TRUE(has_breakpoint(8));
}

TEST_F(LeftBreakpoints, of_a_disarmed_handler_are_none) {
  std::copy(Rescue::kDisarmed.begin(), Rescue::kDisarmed.end(), page.begin() + Rescue::kDisarmedAt);
  EXPECT_LT(wait(), std::chrono::seconds(1));
  EXPECT_TRUE(has_breakpoint(0));
}

}  // namespace
}  // namespace sp::supervisor
