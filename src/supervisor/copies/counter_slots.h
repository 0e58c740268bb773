#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "core/address.h"
#include "core/function_copy.h"
#include "core/result.h"
#include "supervisor/copies/counter_memory.h"
#include "supervisor/copies/remote_memory.h"

namespace sp::supervisor {

/// The counters of an address space's copied functions: one set of 64-bit words, a slot, for each
/// thread, all of them in a file in memory that the target maps and we do, too. A thread's copies
/// address counter i as counters_at(i) from the base of its counter segment. Threads whose base is
/// 0, because nobody has given them one, count in slot 0, which is mapped at counters_at(0) itself.
/// Where the CPU has no such segment all threads count there, atomically, and there are no other
/// slots; so all have to be counted, and they have no tables.
///
/// A slot is written by its thread alone, by us only while that thread is stopped. Reading needs no
/// stop, and goes on when the process has ended. A forked child has the same memory: it must not
/// count there (give it base 0 and its original code, then unmap() in it, or leave that until its
/// exec). Runs on the ptrace thread.
class CounterSlots {
 public:
  /// What copies put into the end of a slot.
  enum class TableUse : std::uint8_t { transfers, events };

  /// `caller` may run on in user code (see remote_syscall()), and no other thread runs. Errors:
  /// ENOMEM, no memory or no addresses (RLIMIT_AS); EPERM
  /// and others of remote_syscall().
  [[nodiscard]] static core::Result<CounterSlots> create(const RemoteCaller& caller,
                                                         TableUse use = TableUse::transfers);

  /// Counters that a slot has.
  [[nodiscard]] std::uint32_t capacity() const { return memory_.counters(); }
  /// Room for `count` counters in a row, which are 0; the first one's number. Nothing if there is
  /// none left.
  [[nodiscard]] std::optional<std::uint32_t> allocate(std::uint32_t count);
  /// Nobody counts there any more: they are emptied and given out again.
  void free(std::uint32_t first, std::uint32_t count);
  /// What is to be added to the base to reach the counter (core::CopyPlace::counters).
  [[nodiscard]] std::uint64_t counters_at(std::uint32_t counter) const {
    return memory_.base().value() + counter * CounterMemory::kCounterSize;
  }

  /// The base for a thread's counter segment: that of its slot, or of a free one from now on.
  /// Nothing if all are in use, so that grow() has to come first, or if it cannot be told apart.
  /// What a thread that is not to be counted (a child by vfork that is not followed) counts there
  /// is in no sum.
  [[nodiscard]] std::optional<std::uint64_t> assign(pid_t tid, bool is_counted = true);
  /// Whether the stopped thread has a base of ours: the program may have set its own since.
  [[nodiscard]] bool has_base(pid_t tid) const;
  /// Maps more slots. As create(), but other threads may run.
  [[nodiscard]] core::Result<void> grow(const RemoteCaller& caller);
  /// The thread is gone, or has called exec: its counts go to the sums, its slot to somebody else.
  void release(pid_t tid);
  [[nodiscard]] std::size_t free_slots() const {
    return arch::Native::kHasCounterSegment ? free_.size()
                                            : std::numeric_limits<std::size_t>::max();
  }
  /// Threads that have a slot.
  [[nodiscard]] std::size_t threads() const { return slot_of_.size(); }

  /// The counters from `first` on over all threads, those that have ended included.
  [[nodiscard]] std::vector<std::uint64_t> sums(std::uint32_t first, std::uint32_t count) const;
  /// The same of one thread; all 0 if it has no slot.
  [[nodiscard]] std::vector<std::uint64_t> counts_of(pid_t tid, std::uint32_t first,
                                                     std::uint32_t count) const;
  /// Corrects a counter of a thread that is stopped. False if it has no slot.
  [[nodiscard]] bool adjust(pid_t tid, std::uint32_t counter, int by);

  /// Where copies count transfers (core::CopyPlace::transfers); nothing if there is no room.
  [[nodiscard]] std::optional<core::TransferTable> transfers_at() const;
  struct Transfers {
    std::uint32_t site = 0;
    core::Address target;
    std::int64_t count = 0;  // below 0 if some that were taken have been taken back
  };
  /// What all threads have counted there since the last call, those that have ended included.
  [[nodiscard]] std::vector<Transfers> take_transfers();
  /// Transfers that found a full table, in all.
  [[nodiscard]] std::uint64_t lost_transfers() const;
  /// Of a thread that is stopped, and not at work on its table: makes room in it if it is half
  /// full.
  void make_room_for_transfers(pid_t tid);
  /// One that a thread, which is stopped, has counted and will not make.
  void take_back_transfer(pid_t tid, std::uint32_t site, core::Address target);

  /// Where copies write events (core::CopyPlace::events); nothing if there is no room.
  [[nodiscard]] std::optional<core::EventRing> ring_at() const;
  struct Event {
    std::uint64_t ticks = 0;
    core::Address sp;
    core::Address word;
    std::uint32_t place = 0;
    std::uint32_t waited = 0;  // ticks for which there was no room
  };
  struct TakenEvents {
    std::vector<Event> events;
    std::uint64_t lost = 0;         // those that the ring had no room for
    std::uint64_t lost_behind = 0;  // so many, the first of `events` and what comes after it
    bool are_many = false;          // the ring was a quarter full
  };
  /// What the thread has written since the last call, but for the last `left` events.
  [[nodiscard]] TakenEvents take_events(pid_t tid, std::uint32_t left);
  /// The last event of a thread that is stopped, if it was not taken.
  void take_back_event(pid_t tid);

  /// Unmaps everything from the caller's address space: the target's at the end, when no thread
  /// runs in a copy, or a forked child's.
  void unmap(const RemoteCaller& caller) const { memory_.unmap(caller); }
  /// What is mapped in the target.
  [[nodiscard]] std::vector<core::AddressRange> ranges() const { return memory_.ranges(); }

 private:
  struct FreeRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  CounterSlots(CounterMemory memory, TableUse use) : memory_(std::move(memory)), use_(use) {}
  /// Nothing if there is no such table.
  [[nodiscard]] std::optional<CounterMemory::TableWords> words_of(TableUse use) const {
    return arch::Native::kHasCounterSegment && use_ == use ? memory_.table() : std::nullopt;
  }
  /// The end of a thread's slot. Nothing if it has no slot, or there is no such table.
  struct Table {
    CounterMemory::TableWords words;
    std::uint32_t slot = 0;
    std::span<std::uint64_t> all;  // the slot's words
  };
  [[nodiscard]] std::optional<Table> table_of(pid_t tid, TableUse use) const;
  /// All slots from that one on are free.
  void add_free(std::uint32_t first);
  void add_to(std::vector<std::uint64_t>& sums, std::uint32_t slot, std::uint32_t first) const;
  /// Moves what the slot has counted since the last time to `to`.
  void take_transfers(std::uint32_t slot, std::vector<Transfers>& to) const;
  /// Takes what is left, before the slot is emptied.
  void end_transfers(std::uint32_t slot);

  CounterMemory memory_;
  TableUse use_;
  std::vector<std::uint32_t> free_;
  std::unordered_map<pid_t, std::uint32_t> slot_of_;
  std::unordered_set<pid_t> uncounted_;
  std::vector<std::uint64_t> ended_;  // by counter: what threads that are gone have counted
  std::uint32_t used_ = 0;            // counters that were given out
  std::vector<FreeRange> free_ranges_;
  std::vector<Transfers> ended_transfers_;  // not taken yet
  std::uint64_t ended_lost_ = 0;
};

/// The segment is free for us: neither the program nor anybody else has given the stopped thread
/// one. A base at which nothing is mapped is one of ours: threads that sleep keep it when we
/// detach.
[[nodiscard]] bool has_free_counter_segment(pid_t tid);
/// Gives the stopped thread a base (CounterSlots::assign()), or takes it away (0).
[[nodiscard]] core::Result<void> set_counter_base(pid_t tid, std::uint64_t base);

}  // namespace sp::supervisor
