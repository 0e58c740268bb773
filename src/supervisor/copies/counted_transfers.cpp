#include <algorithm>
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

}  // namespace

std::optional<TransferTable> CounterSlots::transfers_at() const {
  const auto words = words_of(TableUse::transfers);
  if (!words) {
    return std::nullopt;
  }
  return TransferTable{counters_at(words->entries), counters_at(words->used),
                       counters_at(words->lost)};
}

void CounterSlots::take_transfers(std::uint32_t slot, std::vector<Transfers>& to) const {
  const auto words = words_of(TableUse::transfers);
  if (!words) {
    return;
  }
  memory_.for_each_piece(
      slot, words->entries, kTableWords,
      [&](std::uint32_t /*word*/, std::span<std::uint64_t> piece) {
        for (; piece.size() >= kWordsOfEntry; piece = piece.subspan(kWordsOfEntry)) {
          const std::uint32_t site = site_of(piece);
          if (site == 0) {
            continue;
          }
          const std::uint64_t count = load(piece[kCountWord]);
          if (const std::uint64_t more = count - std::exchange(piece[kTakenWord], count);
              more != 0) {
            to.push_back(
                {site, core::Address{piece[kTargetWord]}, static_cast<std::int64_t>(more)});
          }
        }
      });
}

void CounterSlots::end_transfers(std::uint32_t slot) {
  take_transfers(slot, ended_transfers_);
  if (const auto words = words_of(TableUse::transfers)) {
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
  if (const auto words = words_of(TableUse::transfers)) {
    for (const auto& [tid, slot] : slot_of_) {
      lost += uncounted_.contains(tid) ? 0 : load(memory_.words_of(slot)[words->lost]);
    }
  }
  return lost;
}

void CounterSlots::make_room_for_transfers(pid_t tid) {
  const auto table = table_of(tid, TableUse::transfers);
  if (!table || table->all[table->words.used] <= TransferTable::kEntries / 2) {
    return;
  }
  if (!uncounted_.contains(tid)) {
    take_transfers(table->slot, ended_transfers_);
  }
  const auto entries = table->all.subspan(table->words.entries, kTableWords);
  std::fill(entries.begin(), entries.end(), 0);
  table->all[table->words.used] = 0;
}

void CounterSlots::take_back_transfer(pid_t tid, std::uint32_t site, core::Address target) {
  const auto table = table_of(tid, TableUse::transfers);
  if (!table) {
    return;
  }
  const auto entries = table->all.subspan(table->words.entries, kTableWords);
  std::uint32_t index = TransferTable::first_of(site, target);
  for (std::uint32_t looked = 0; looked < TransferTable::kEntries; ++looked) {
    const auto entry = entries.subspan(std::size_t{index} * kWordsOfEntry, kWordsOfEntry);
    if (site_of(entry) == 0) {
      return;
    }
    if (site_of(entry) == site && entry[kTargetWord] == target.value()) {
      --entry[kCountWord];
      return;
    }
    index = (index + 1) % TransferTable::kEntries;
  }
}

}  // namespace sp::supervisor
