#include <atomic>
#include <utility>

#include "supervisor/copies/counter_slots.h"

// The tables of transfers in the slots. An entry has a fourth word, of which threads know nothing:
// how much of its count was taken.
namespace sp::supervisor {
namespace {

using core::TransferTable;

constexpr std::uint32_t kWordsOfEntry = TransferTable::kEntrySize / CounterMemory::kCounterSize;
constexpr std::uint32_t kTargetWord = TransferTable::kTarget / CounterMemory::kCounterSize;
constexpr std::uint32_t kCountWord = TransferTable::kCount / CounterMemory::kCounterSize;
constexpr std::uint32_t kSiteWord = TransferTable::kSite / CounterMemory::kCounterSize;
constexpr std::uint32_t kTakenWord = 3;
constexpr std::uint32_t kTableWords = TransferTable::kEntries * kWordsOfEntry;

/// Threads count while we read: a target is there before its site.
std::uint64_t load(std::uint64_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

std::uint32_t site_of(std::span<std::uint64_t> entry) {
  return static_cast<std::uint32_t>(load(entry[kSiteWord]));
}

/// Calls `use` with each of a slot's entries that is not free.
template <typename Use>
void for_each_entry(const CounterMemory& memory, std::uint32_t slot, const Use& use) {
  const auto words = memory.table();
  if (!words) {
    return;
  }
  memory.for_each_piece(slot, words->entries, kTableWords,
                        [&](std::uint32_t /*word*/, std::span<std::uint64_t> piece) {
                          for (; piece.size() >= kWordsOfEntry;
                               piece = piece.subspan(kWordsOfEntry)) {
                            if (site_of(piece) != 0) {
                              use(piece.first(kWordsOfEntry));
                            }
                          }
                        });
}

}  // namespace

std::optional<TransferTable> CounterSlots::transfers_at() const {
  const auto words = memory_.table();
  if (!words) {
    return std::nullopt;
  }
  return TransferTable{counters_at(words->entries), counters_at(words->mask),
                       counters_at(words->room), counters_at(words->lost)};
}

void CounterSlots::take_transfers(std::uint32_t slot, std::vector<Transfers>& to) const {
  for_each_entry(memory_, slot, [&to](std::span<std::uint64_t> entry) {
    const std::uint64_t count = load(entry[kCountWord]);
    const std::uint64_t more = count - std::exchange(entry[kTakenWord], count);
    if (more != 0) {
      to.push_back(
          {site_of(entry), core::Address{entry[kTargetWord]}, static_cast<std::int64_t>(more)});
    }
  });
}

void CounterSlots::end_transfers(std::uint32_t slot) {
  take_transfers(slot, ended_transfers_);
  if (const auto words = memory_.table()) {
    ended_lost_ += load(memory_.words_of(slot)[words->lost]);
  }
}

std::vector<CounterSlots::Transfers> CounterSlots::take_transfers() {
  std::vector<Transfers> taken = std::exchange(ended_transfers_, {});
  take_transfers(0, taken);
  for (const auto& [tid, slot] : slot_of_) {
    if (!uncounted_.contains(tid)) {
      take_transfers(slot, taken);
    }
  }
  return taken;
}

std::uint64_t CounterSlots::lost_transfers() const {
  std::uint64_t lost = ended_lost_;
  if (const auto words = memory_.table()) {
    for (const auto& [tid, slot] : slot_of_) {
      lost += uncounted_.contains(tid) ? 0 : load(memory_.words_of(slot)[words->lost]);
    }
  }
  return lost;
}

void CounterSlots::make_room_for_transfers(pid_t tid) {
  constexpr std::int32_t kLittle = TransferTable::kEntries / 4;
  const auto words = memory_.table();
  const auto found = slot_of_.find(tid);
  if (!words || found == slot_of_.end()) {
    return;
  }
  const std::uint32_t slot = found->second;
  const std::span<std::uint64_t> all = memory_.words_of(slot);
  if (all[words->mask] != TransferTable::kLargestMask ||
      static_cast<std::int32_t>(all[words->room]) > kLittle) {
    return;
  }
  if (uncounted_.contains(tid)) {
    memory_.empty(slot, words->mask);
    return;
  }
  end_transfers(slot);
  memory_.empty(slot, words->mask);
}

void CounterSlots::take_back_transfer(pid_t tid, std::uint32_t site, core::Address target) {
  const auto words = memory_.table();
  const auto found = slot_of_.find(tid);
  if (!words || found == slot_of_.end()) {
    return;
  }
  bool is_done = false;
  for_each_entry(memory_, found->second, [&](std::span<std::uint64_t> entry) {
    if (!is_done && site_of(entry) == site && entry[kTargetWord] == target.value()) {
      --entry[kCountWord];
      is_done = true;
    }
  });
}

}  // namespace sp::supervisor
