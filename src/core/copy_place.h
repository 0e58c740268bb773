#pragma once

#include <cstdint>
#include <optional>

#include "core/address.h"

namespace sp::core {

/// A thread's table of the transfers that its copies have counted: how often control went from one
/// place to another by a return or an indirect call or jump. Offsets from the base of the thread's
/// counter segment. Entries are added by the thread alone: the first free one from first_of() on is
/// a pair's.
struct TransferTable {
  static constexpr std::uint32_t kEntries = 1U << 16U;
  static constexpr std::uint64_t kEntrySize = 32;
  static constexpr std::uint64_t kTarget = 0;  // offsets in an entry
  static constexpr std::uint64_t kCount = 8;
  static constexpr std::uint64_t kSite = 16;  // 32 bits; 0: the entry is free
  /// So many entries are used at most: one that is free ends each search.
  static constexpr std::uint32_t kMost = kEntries / 4 * 3;

  std::uint64_t entries = 0;
  std::uint64_t used = 0;  // 32 bits: entries in use
  std::uint64_t lost = 0;  // 64 bits: transfers that found none free

  /// Of a pair. `site` is a number of the copied block's own, not 0.
  [[nodiscard]] static constexpr std::uint32_t spread(std::uint32_t site) {
    return site * 0x9E3779B1U >> 16U;
  }
  [[nodiscard]] static constexpr std::uint32_t first_of(std::uint32_t site, Address target) {
    return (static_cast<std::uint32_t>(target.value()) + spread(site)) & (kEntries - 1);
  }
};

/// A thread's ring of events that its copies write (--trace), in the memory of its TransferTable.
/// Offsets from the base of the thread's counter segment. Entries are written by the thread alone,
/// those from `read` to `cursor` are there; `read` is the reader's.
struct EventRing {
  static constexpr std::uint64_t kEntrySize = TransferTable::kEntrySize;
  static constexpr std::uint64_t kBytes = TransferTable::kEntries * kEntrySize;
  static constexpr std::uint64_t kTicks = 0;    // offsets in an entry: the time stamp counter
  static constexpr std::uint64_t kSp = 8;       // the stack pointer
  static constexpr std::uint64_t kWord = 16;    // the word that it points to, or an argument
  static constexpr std::uint64_t kPlace = 24;   // 32 bits
  static constexpr std::uint64_t kWaited = 28;  // 32 bits: ticks for which there was no room
  std::uint64_t entries = 0;
  std::uint64_t cursor = 0;  // 32 bits: bytes from `entries` to where the next entry comes
  std::uint64_t read = 0;    // 32 bits: likewise to the first entry that is still to be read
  std::uint64_t lost = 0;    // 64 bits: events that found no room
  bool waits = false;        // threads wait for room
};

/// Where a copy of a function is to be placed, and where it counts.
struct CopyPlace {
  Address at;              // of the copy's first byte
  std::uint64_t room = 0;  // bytes from there on
  /// The first block's counter is the 64-bit word at `counters` from the base of the thread's
  /// counter segment (x86-64: gs; AArch64 has none: it is an address, below 2^32), the next block's
  /// is behind it, and so on; then come those of branches. most_counters() of them belong to the
  /// copy.
  std::uint64_t counters = 0;
  /// Where it counts returns, indirect calls and indirect jumps; nothing: nowhere.
  std::optional<TransferTable> transfers{};
  /// Where it writes the events of FunctionToCopy::places. Not with `transfers`.
  std::optional<EventRing> events{};
  /// The CPU adds to memory by one instruction (AArch64 with LSE), else in a loop.
  bool adds_in_memory = true;
};

}  // namespace sp::core
