#include "supervisor/guardian/restoration.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "arch/native.h"
#include "core/fd.h"
#include "supervisor/guardian/code_change.h"

namespace sp::supervisor {
namespace {

using arch::NativeLivePatch;
using core::Address;

constexpr auto& kBreakpoint = arch::Native::kBreakpoint;
constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kJump = NativeLivePatch::kHoldTraps ? 5 : 4;

/// A file in place of a process's memory. Each byte of the original is its address modulo 61.
struct Restoration : ::testing::Test {
  Restoration() {
    file.reset(::memfd_create("memory", MFD_CLOEXEC));
    for (std::size_t i = 0; i < original.size(); ++i) {
      original[i] = std::byte(i % 61);
    }
    write(0, original);
  }

  void write(std::uint64_t address, std::span<const std::byte> bytes) const {
    ASSERT_EQ(::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(address)),
              static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] std::vector<std::byte> memory() const {
    std::vector<std::byte> bytes(original.size());
    EXPECT_EQ(::pread(file.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  /// The change from a jump to a copy back to the original.
  [[nodiscard]] CodeChange window(std::uint64_t address, std::size_t size = kJump,
                                  std::byte jump = std::byte{0xE9}) const {
    CodeChange change{Address{address}, size, {}, {}};
    for (std::size_t i = 0; i < size; ++i) {
      change.from[i] = i == 0 ? jump : std::byte(0xA0 + i);
      change.to[i] = original[address + i];
    }
    return change;
  }
  void put_jump(const CodeChange& change) const {
    write(change.address.value(), std::span(change.from).first(change.size));
  }
  CodeChange add_jump(std::uint64_t address) {
    const CodeChange change = window(address);
    (void)journal.add_change(space, change);
    put_jump(change);
    return change;
  }
  void restore() {
    const SpaceMemory of_file{space, file.get()};
    restore_memories(journal, std::span(&of_file, 1), 0, held);
  }

  Journal journal;
  HeldGates held;
  const std::uint32_t space = journal.new_space();
  core::UniqueFd file;
  std::vector<std::byte> original = std::vector<std::byte>(9 * kPage);
  std::minstd_rand random{5};
};

/// Addresses that are aligned in every way, and across words, cache lines and pages.
std::vector<std::uint64_t> places() {
  std::vector<std::uint64_t> all;
  for (std::uint64_t place = kPage; place < 2 * kPage; place += 73) {
    all.push_back(place);
  }
  std::uint64_t page = 3 * kPage;
  for (const std::uint64_t last : {1U, 2U, 3U, 4U, 8U}) {
    all.push_back(page - last);
    page += kPage;
  }
  std::erase_if(all, [](std::uint64_t place) { return place % kBreakpoint.size() != 0; });
  return all;
}

TEST_F(Restoration, takes_jumps_to_copies_back) {
  for (const std::uint64_t place : places()) {
    add_jump(place);
  }
  restore();
  EXPECT_TRUE(memory() == original);
}

TEST_F(Restoration, takes_every_step_of_a_change_back) {
  std::vector<CodeChange> changes;
  for (const std::uint64_t place : places()) {
    changes.push_back(window(place).reversed());
    (void)journal.add_change(space, changes.back().reversed());
  }
  sort_changes(changes);
  for (const ChangeStep step : {ChangeStep::hold, ChangeStep::tail, ChangeStep::head}) {
    write(0, original);
    for (const ChangeStep before : {ChangeStep::hold, ChangeStep::tail, ChangeStep::head}) {
      if (before <= step) {
        ASSERT_TRUE(take_step(file.get(), changes, before));
      }
    }
    ASSERT_FALSE(memory() == original);
    restore();
    EXPECT_TRUE(memory() == original) << "killed after step " << static_cast<int>(step);
  }
}

TEST_F(Restoration, takes_any_mixture_of_bytes_back) {
  constexpr int kRounds = 20;
  for (const std::uint64_t place : places()) {
    (void)journal.add_change(space, window(place, CodeChange::kLongest));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (const std::uint64_t place : places()) {
      const CodeChange change = window(place, CodeChange::kLongest);
      auto bytes = change.to;
      for (std::size_t i = 0; i < change.size; ++i) {
        const auto kind = random() % 3;
        if (kind == 1) {
          bytes[i] = change.from[i];
        } else if (kind == 2 && i < NativeLivePatch::kHold.size()) {
          bytes[i] = NativeLivePatch::kHold[i];
        }
      }
      write(place, bytes);
    }
    restore();
    ASSERT_TRUE(memory() == original);
  }
}

TEST_F(Restoration, leaves_what_somebody_else_has_written) {
  for (std::size_t i = 0; i < kJump; ++i) {
    const CodeChange change = add_jump(kPage + 64 * i);
    const std::byte foreign{0xB7};
    write(change.address.value() + i, std::span(&foreign, 1));
  }
  add_jump(3 * kPage);
  const auto before = memory();
  restore();
  auto expected = before;
  std::copy_n(original.begin() + 3 * kPage, kJump, expected.begin() + 3 * kPage);
  EXPECT_TRUE(memory() == expected);
}

TEST_F(Restoration, lets_threads_out_of_copies) {
  for (const std::uint64_t place : places()) {
    const CodeChange way_out = window(place).reversed();  // from the copy's own bytes to a jump
    (void)journal.add_change(space, way_out);
  }
  restore();
  auto expected = original;
  for (const std::uint64_t place : places()) {
    const CodeChange change = window(place);
    std::copy_n(change.from.begin(), change.size,
                expected.begin() + static_cast<std::ptrdiff_t>(place));
  }
  EXPECT_TRUE(memory() == expected);
}

TEST_F(Restoration, knows_breakpoints_where_there_were_jumps_before) {
  const CodeChange change = window(kPage);
  (void)journal.add_change(space, change);
  (void)journal.add(space, change.address, std::span(original).subspan(kPage));
  (void)journal.add(space, Address{kPage + 4}, std::span(original).subspan(kPage + 4), true);
  write(kPage, kBreakpoint);
  write(kPage + 4, kBreakpoint);
  restore();
  EXPECT_TRUE(memory() == original);
}

TEST_F(Restoration, knows_jumps_where_there_were_breakpoints_before) {
  for (std::size_t at = 0; at < kJump; at += kBreakpoint.size()) {
    const std::uint64_t place = kPage + 64 * (at + 1);
    CodeChange change = window(place);
    std::copy(kBreakpoint.begin(), kBreakpoint.end(),
              change.from.begin() + static_cast<std::ptrdiff_t>(at));
    (void)journal.add_change(space, change);
    for (std::size_t i = 0; i < kJump; i += kBreakpoint.size()) {
      (void)journal.add(space, Address{place + i}, std::span(original).subspan(place + i), i == 0);
    }
    put_jump(change);
  }
  restore();
  EXPECT_TRUE(memory() == original);
}

TEST_F(Restoration, knows_which_of_several_jumps_is_there) {
  const CodeChange before = window(kPage, kJump, std::byte{0xEA});
  (void)journal.add_change(space, before);
  add_jump(kPage);
  (void)journal.add_change(space, window(kPage, kJump, std::byte{0xE8}));
  restore();
  EXPECT_TRUE(memory() == original);
}

TEST_F(Restoration, forgets_removed_changes) {
  const auto id = journal.add_change(space, window(kPage));
  put_jump(window(kPage));
  journal.remove_change(id);
  restore();
  EXPECT_FALSE(memory() == original);
  EXPECT_EQ(journal.add_change(space, window(64)), id);
}

TEST_F(Restoration, restores_all_copies_of_an_address_space) {
  add_jump(kPage);
  const core::UniqueFd child(::memfd_create("child", MFD_CLOEXEC));
  const auto copied = memory();
  ASSERT_EQ(::write(child.get(), copied.data(), copied.size()),
            static_cast<ssize_t>(copied.size()));
  const std::array<SpaceMemory, 2> both{SpaceMemory{space, file.get()},
                                        SpaceMemory{space, child.get()}};
  restore_memories(journal, both, 0, held);
  EXPECT_TRUE(memory() == original);
  auto bytes = copied;
  ASSERT_EQ(::pread(child.get(), bytes.data(), bytes.size(), 0),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(bytes, original);
}

TEST_F(Restoration, restores_children_that_were_forked_while_threads_waited_at_gates) {
  constexpr std::uint64_t kGate = kPage + 24;
  const auto gate_bytes = std::span(original).subspan(kGate, kBreakpoint.size());
  (void)journal.add(space, Address{kGate}, gate_bytes, true);
  write(kGate, kBreakpoint);
  restore();
  EXPECT_TRUE(memory() == original);
  write(kGate, NativeLivePatch::kHold);  // what a child has
  restore();
  EXPECT_TRUE(memory() == original);
}

TEST_F(Restoration, leaves_jumps_of_a_program_to_themselves_where_no_gate_was) {
  constexpr std::uint64_t kGate = kPage + 24;
  const auto gate_bytes = std::span(original).subspan(kGate, kBreakpoint.size());
  (void)journal.add(space, Address{kGate}, gate_bytes, true);
  if (NativeLivePatch::kHoldTraps) {
    write(kGate, std::array{std::byte{0xEB}, std::byte{0xFE}});
  } else {
    write(kGate, NativeLivePatch::kHold);
  }
  const auto before = memory();
  restore();
  EXPECT_TRUE(memory() == before);
}

}  // namespace
}  // namespace sp::supervisor
