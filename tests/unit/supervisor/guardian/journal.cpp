#include "supervisor/guardian/journal.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/fd.h"
#include "supervisor/guardian/restoration.h"

namespace sp::supervisor {
namespace {

constexpr auto& kBreakpoint = arch::Native::kBreakpoint;
constexpr std::uint64_t kPage = 4096;

/// A file in place of a process's memory, filled with the byte 'a'.
struct JournalOfMemory : ::testing::Test {
  JournalOfMemory() {
    file.reset(::memfd_create("memory", MFD_CLOEXEC));
    const std::vector<char> pages(4 * kPage, 'a');
    EXPECT_EQ(::write(memory(), pages.data(), pages.size()), static_cast<ssize_t>(pages.size()));
  }

  [[nodiscard]] int memory() const { return file.get(); }
  void write(std::uint64_t address, std::span<const std::byte> bytes) const {
    ASSERT_EQ(::pwrite(memory(), bytes.data(), bytes.size(), static_cast<off_t>(address)),
              static_cast<ssize_t>(bytes.size()));
  }
  [[nodiscard]] std::string at(std::uint64_t address) const {
    std::string bytes(kBreakpoint.size(), '?');
    EXPECT_EQ(::pread(memory(), bytes.data(), bytes.size(), static_cast<off_t>(address)),
              static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  void restore() const {
    const SpaceMemory of_file{space, memory()};
    HeldGates held;
    restore_memories(journal, std::span(&of_file, 1), 0, held);
  }
  /// Adds an entry and inserts the breakpoint.
  Journal::EntryId insert(std::uint64_t address, bool last = false) {
    std::array<std::byte, kBreakpoint.size()> bytes{};
    std::memcpy(bytes.data(), at(address).data(), bytes.size());
    const auto id = journal.add(space, core::Address{address}, bytes, last);
    write(address, kBreakpoint);
    return id;
  }

  Journal journal;
  const std::uint32_t space = journal.new_space();
  core::UniqueFd file;
  const std::string original = std::string(kBreakpoint.size(), 'a');
};

TEST_F(JournalOfMemory, restores_the_original_bytes) {
  for (const std::uint64_t address : {kPage + 8, kPage + 64, 2 * kPage - kBreakpoint.size()}) {
    insert(address);
  }
  insert(3 * kPage, true);
  EXPECT_NE(at(kPage + 8), original);
  restore();
  for (std::uint64_t address = 0; address < 4 * kPage; address += kBreakpoint.size()) {
    ASSERT_EQ(at(address), original) << address;
  }
}

TEST_F(JournalOfMemory, leaves_alone_what_is_no_breakpoint_any_more) {
  insert(8);
  const std::vector<std::byte> other(kBreakpoint.size(), std::byte{'b'});
  write(8, other);
  restore();
  EXPECT_EQ(at(8), std::string(kBreakpoint.size(), 'b'));
}

TEST_F(JournalOfMemory, forgets_removed_entries_and_uses_their_place_again) {
  const auto id = insert(8);
  journal.remove(id);
  restore();
  EXPECT_NE(at(8), original);
  EXPECT_EQ(insert(64), id);
}

TEST_F(JournalOfMemory, restores_only_the_address_spaces_whose_memory_it_is_given) {
  insert(8);
  HeldGates held;
  restore_memories(journal, {}, 0, held);
  EXPECT_NE(at(8), original);
  EXPECT_NE(journal.new_space(), space);
}

}  // namespace
}  // namespace sp::supervisor
