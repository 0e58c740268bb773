#include "supervisor/copies/counter_slots.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "arch/native.h"
#include "supervisor/linux/process_vm.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

using arch::Native;

/// Other threads count while we read.
std::uint64_t load_counter(std::uint64_t& word) {
  return std::atomic_ref(word).load(std::memory_order_relaxed);
}

/// Certainly: where reading is forbidden nothing is known.
bool is_unmapped(pid_t tid, core::Address at) {
  std::byte there{};
  errno = 0;
  return copy_memory(tid, at, std::span(&there, 1)) == 0 && errno == EFAULT;
}

}  // namespace

bool has_free_counter_segment(pid_t tid) {
  auto registers = ptrace::registers(tid);
  if (!registers) {
    return false;
  }
  const core::Address base{Native::counter_base(*registers)};
  Native::set_counter_base(*registers, 0);
  return !Native::uses_counter_segment(*registers) &&
         (base == core::Address{} || is_unmapped(tid, base));
}

core::Result<void> set_counter_base(pid_t tid, std::uint64_t base) {
  auto registers = ptrace::registers(tid);
  if (!registers) {
    return tl::unexpected(registers.error());
  }
  Native::set_counter_base(*registers, base);
  return ptrace::set_registers(tid, *registers);
}

core::Result<CounterSlots> CounterSlots::create(const RemoteCaller& caller, TableUse use) {
  auto memory = CounterMemory::create(caller);
  if (!memory) {
    return tl::unexpected(memory.error());
  }
  CounterSlots slots(*std::move(memory), use);
  slots.add_free(1);
  return slots;
}

std::optional<CounterSlots::Table> CounterSlots::table_of(pid_t tid, TableUse use) const {
  const auto words = words_of(use);
  const auto found = slot_of_.find(tid);
  if (!words || found == slot_of_.end()) {
    return std::nullopt;
  }
  return Table{*words, found->second, memory_.words_of(found->second)};
}

void CounterSlots::add_free(std::uint32_t first) {
  for (std::uint32_t slot = memory_.slots(); slot-- > first;) {
    free_.push_back(slot);  // the lowest is given out first
  }
}

core::Result<void> CounterSlots::grow(const RemoteCaller& caller) {
  const std::uint32_t first = memory_.slots();
  auto grown = memory_.grow(caller);
  if (grown) {
    add_free(first);
  }
  return grown;
}

std::optional<std::uint32_t> CounterSlots::allocate(std::uint32_t count) {
  const auto range = std::find_if(free_ranges_.begin(), free_ranges_.end(),
                                  [count](const FreeRange& free) { return free.count >= count; });
  if (range != free_ranges_.end()) {
    const std::uint32_t first = range->first;
    range->first += count;
    range->count -= count;
    std::erase_if(free_ranges_, [](const FreeRange& free) { return free.count == 0; });
    return first;
  }
  if (count > memory_.counters() - used_) {
    return std::nullopt;
  }
  ended_.resize(used_ + count);
  return std::exchange(used_, used_ + count);
}

void CounterSlots::free(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t slot = 0; slot < memory_.slots(); ++slot) {
    memory_.for_each_piece(slot, first, count, [](std::uint32_t /*counter*/, auto words) {
      std::fill(words.begin(), words.end(), 0);
    });
  }
  std::fill_n(ended_.begin() + first, count, 0);
  free_ranges_.push_back({first, count});
}

std::optional<std::uint64_t> CounterSlots::assign(pid_t tid, bool is_counted) {
  if (!Native::kHasCounterSegment) {
    return is_counted ? std::optional<std::uint64_t>(0) : std::nullopt;
  }
  if (const auto known = slot_of_.find(tid); known != slot_of_.end()) {
    return memory_.base_of(known->second);
  }
  if (free_.empty()) {
    return std::nullopt;
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  slot_of_.emplace(tid, slot);
  if (!is_counted) {
    uncounted_.insert(tid);
  }
  return memory_.base_of(slot);
}

bool CounterSlots::has_base(pid_t tid) const {
  const auto registers = ptrace::registers(tid);
  if (!registers) {
    return false;
  }
  const core::Address at = memory_.base() + Native::counter_base(*registers);
  const auto ours = memory_.ranges();
  return std::any_of(ours.begin(), ours.end(),
                     [at](core::AddressRange range) { return range.contains(at); });
}

void CounterSlots::release(pid_t tid) {
  const auto found = slot_of_.find(tid);
  if (found == slot_of_.end()) {
    return;
  }
  const std::uint32_t slot = found->second;
  slot_of_.erase(found);
  if (uncounted_.erase(tid) == 0) {
    add_to(ended_, slot, 0);
    end_transfers(slot);
  }
  memory_.empty(slot);
  free_.push_back(slot);
}

std::vector<std::uint64_t> CounterSlots::sums(std::uint32_t first, std::uint32_t count) const {
  std::vector<std::uint64_t> sums(ended_.begin() + first, ended_.begin() + first + count);
  add_to(sums, 0, first);
  for (const auto& [tid, slot] : slot_of_) {
    if (!uncounted_.contains(tid)) {
      add_to(sums, slot, first);
    }
  }
  return sums;
}

std::vector<std::uint64_t> CounterSlots::counts_of(pid_t tid, std::uint32_t first,
                                                   std::uint32_t count) const {
  std::vector<std::uint64_t> counts(count);
  if (const auto found = slot_of_.find(tid); found != slot_of_.end()) {
    add_to(counts, found->second, first);
  }
  return counts;
}

bool CounterSlots::adjust(pid_t tid, std::uint32_t counter, int by) {
  const auto found = slot_of_.find(tid);
  if (found == slot_of_.end()) {
    return false;
  }
  memory_.words_of(found->second)[counter] += static_cast<std::uint64_t>(std::int64_t{by});
  return true;
}

void CounterSlots::add_to(std::vector<std::uint64_t>& sums, std::uint32_t slot,
                          std::uint32_t first) const {
  memory_.for_each_piece(slot, first, static_cast<std::uint32_t>(sums.size()),
                         [&](std::uint32_t counter, std::span<std::uint64_t> words) {
                           for (std::uint64_t& word : words) {
                             sums[counter++ - first] += load_counter(word);
                           }
                         });
}

}  // namespace sp::supervisor
