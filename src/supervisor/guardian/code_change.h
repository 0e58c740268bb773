#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/clock.h"

/// Replacing instructions of several bytes while threads may execute them. Used by superprofiler
/// for jumps from the original code into copies of it, and by the guardian to take them back.
///
/// In three steps, for all changes at once:
///   hold  who comes to the first byte waits there, at Native::LivePatch::kHold;
///   tail  the bytes behind that;
///   head  the first bytes, which lets the waiting go on.
/// Between two steps every CPU that may execute the code has to have entered the kernel, so that
/// nobody executes what it has fetched before: 5 bytes in part old and in part new. Second jumps
/// are written as a whole with the tails: whoever leads to them waits by then.
///
/// No thread's pc may be behind a change's first byte, within it.
namespace sp::supervisor {

struct CodeChange {
  static constexpr std::size_t kLongest = 8;

  core::Address address;
  std::size_t size = 0;  // at least that of Native::LivePatch::kHold
  std::array<std::byte, kLongest> from{};
  std::array<std::byte, kLongest> to{};
  /// A jump that nothing but another jump of ours leads to. It lies in bytes that are executed,
  /// from an instruction before them on, as soon as that other jump is gone: nobody may wait there.
  bool is_second = false;

  [[nodiscard]] core::AddressRange range() const { return {address, address + size}; }
  /// Back again.
  [[nodiscard]] CodeChange reversed() const { return {address, size, to, from, is_second}; }
};

/// At any moment of the change, each byte is the old one, the new one or one that `hold` writes. If
/// not, somebody else has written there.
[[nodiscard]] bool is_of_change(const CodeChange& change, std::span<const std::byte> there);

enum class ChangeStep : std::uint8_t { hold, tail, head };

/// Sorts by address, as the functions below want it.
void sort_changes(std::vector<CodeChange>& changes);
/// Takes one step of all changes, which may be in any state, with one read and one write a page.
/// False where the memory could not be written; the other pages are.
bool take_step(int memory, std::span<const CodeChange> changes, ChangeStep step);

/// Returns when every CPU has been in the kernel: visit_every_cpu(), or else a system call that
/// takes 10 to 20 ms. That one is refused where a CPU runs without ticks (nohz_full), then it waits
/// for 100 ms.
void wait_for_every_cpu();
/// How long the calling thread has waited there so far.
[[nodiscard]] core::Duration waited_for_every_cpu();

/// A thread runs on each CPU in turn, some 20 us each, if the caller has a real-time priority.
/// False, and not all are visited, if it has none, where the thread may not run on all that are
/// online, or where one is kept busy by a higher priority for more than 20 ms.
[[nodiscard]] bool visit_every_cpu();

struct FoundBytes {
  CodeChange change;
  std::array<std::byte, CodeChange::kLongest> there{};
};
/// What is there now; leaves out what cannot be read.
[[nodiscard]] std::vector<FoundBytes> read_changes(int memory, std::span<const CodeChange> changes);

}  // namespace sp::supervisor
