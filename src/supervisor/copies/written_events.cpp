#include <algorithm>
#include <atomic>
#include <utility>

#include "supervisor/copies/counter_slots.h"

// The rings of events in the slots. The thread's cursor and our `read` are in bytes.
namespace sp::supervisor {
namespace {

using core::EventRing;

constexpr std::uint64_t kMask = EventRing::kBytes - 1;
constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t word_of(std::span<const std::uint64_t> entry, std::uint64_t offset) {
  return entry[offset / kWord];
}

}  // namespace

std::optional<EventRing> CounterSlots::ring_at() const {
  const auto words = words_of(TableUse::events);
  if (!words) {
    return std::nullopt;
  }
  return EventRing{counters_at(words->entries), counters_at(words->used), counters_at(words->read),
                   counters_at(words->lost)};
}

CounterSlots::TakenEvents CounterSlots::take_events(pid_t tid, std::uint32_t left) {
  TakenEvents taken;
  const auto table = table_of(tid, TableUse::events);
  if (!table) {
    return taken;
  }
  const auto& [words, slot, all] = *table;
  const std::uint64_t cursor = std::atomic_ref(all[words.used]).load(std::memory_order_acquire);
  std::uint64_t at = all[words.read];
  const std::uint64_t written = ((cursor - at) & kMask) / EventRing::kEntrySize;
  const std::uint64_t count = written - std::min<std::uint64_t>(written, left);
  taken.events.reserve(count);
  taken.are_many = count >= core::TransferTable::kEntries / 4;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto entry = all.subspan(words.entries + at / kWord, EventRing::kEntrySize / kWord);
    const std::uint64_t place = word_of(entry, EventRing::kPlace);
    taken.events.push_back(
        {word_of(entry, EventRing::kTicks), core::Address{word_of(entry, EventRing::kSp)},
         core::Address{word_of(entry, EventRing::kWord)}, static_cast<std::uint32_t>(place),
         static_cast<std::uint32_t>(place >> 32U)});
    at = (at + EventRing::kEntrySize) & kMask;
  }
  std::atomic_ref(all[words.read]).store(at, std::memory_order_release);
  const std::uint64_t lost = std::atomic_ref(all[words.lost]).load(std::memory_order_relaxed);
  taken.lost = lost - std::exchange(all[words.taken_lost], lost);
  taken.lost_behind = core::TransferTable::kEntries - 1;  // then the ring was full
  return taken;
}

void CounterSlots::take_back_event(pid_t tid) {
  if (const auto table = table_of(tid, TableUse::events)) {
    std::uint64_t& cursor = table->all[table->words.used];
    if (cursor != table->all[table->words.read]) {
      cursor = (cursor - EventRing::kEntrySize) & kMask;
    }
  }
}

}  // namespace sp::supervisor
