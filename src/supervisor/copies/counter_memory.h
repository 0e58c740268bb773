#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/fd.h"
#include "core/mapping.h"
#include "core/result.h"
#include "supervisor/copies/remote_memory.h"

namespace sp::supervisor {

/// Memory for the slots of counters (CounterSlots): a file in memory that is mapped in the target
/// and here. Slot 0 is at base(), which is part of every counter's address; the others lie
/// elsewhere, in batches. Only pages that were written to exist.
class CounterMemory {
 public:
  /// See CounterSlots.
  [[nodiscard]] static core::Result<CounterMemory> create(const RemoteCaller& caller);
  [[nodiscard]] core::Result<void> grow(const RemoteCaller& caller);
  void unmap(const RemoteCaller& caller) const;
  [[nodiscard]] std::vector<core::AddressRange> ranges() const;

  static constexpr std::uint64_t kCounterSize = sizeof(std::uint64_t);
  [[nodiscard]] core::Address base() const { return base_; }
  /// Words that a slot has: counters from the first on, and at the end the thread's TransferTable
  /// or EventRing, if there is room for one.
  [[nodiscard]] std::uint32_t capacity() const;
  /// The words of the table; nothing if there is none.
  struct TableWords {
    std::uint32_t entries = 0;
    std::uint32_t used = 0;
    std::uint32_t lost = 0;
    std::uint32_t read = 0;        // of an EventRing, whose cursor is `used`
    std::uint32_t taken_lost = 0;  // how many of `lost` are known: ours
  };
  [[nodiscard]] std::optional<TableWords> table() const;
  /// Counters that a slot has.
  [[nodiscard]] std::uint32_t counters() const {
    const auto words = table();
    return words ? words->used : capacity();
  }
  /// How many there are, slot 0 included.
  [[nodiscard]] std::uint32_t slots() const;
  /// What base() + 8 * counter has to be added to for the slot.
  [[nodiscard]] std::uint64_t base_of(std::uint32_t slot) const;

  /// The slot's counters here. To touch a page makes it.
  [[nodiscard]] std::span<std::uint64_t> words_of(std::uint32_t slot) const;
  /// Calls `use` with each piece of a range of the slot's counters that exists.
  using Use = std::function<void(std::uint32_t counter, std::span<std::uint64_t> words)>;
  void for_each_piece(std::uint32_t slot, std::uint32_t first, std::uint32_t count,
                      const Use& use) const;
  /// Gives the slot's pages back; its counters are 0.
  void empty(std::uint32_t slot);

 private:
  /// A mapping of ours, unmapped at the end.
  class View {
   public:
    View(int fd, std::uint64_t size, std::uint64_t offset);
    View(View&& other) noexcept;
    View& operator=(View&& other) noexcept;
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    ~View();
    /// Empty if it could not be mapped.
    [[nodiscard]] std::span<std::uint64_t> words() const { return words_; }

   private:
    std::span<std::uint64_t> words_;
  };
  /// Slots that were mapped at once, next to each other in memory and in the file.
  struct Batch {
    std::uint32_t first = 0;  // its first slot's number
    std::uint32_t slots = 0;
    core::Address at;
    core::AddressRange mapped;  // in the target
    View view;
  };

  CounterMemory() = default;
  core::Result<void> map_first(const RemoteCaller& caller, const MemoryFile& file,
                               const std::vector<core::Mapping>& maps);
  core::Result<void> map_batch(const RemoteCaller& caller, std::uint64_t fd, std::uint32_t first,
                               std::uint32_t slots);
  /// Gives the file room for a batch and maps that here.
  [[nodiscard]] core::Result<Batch> make_batch(std::uint32_t first, std::uint32_t slots) const;
  void add(Batch batch, core::AddressRange mapped, core::Address at);
  [[nodiscard]] const Batch& batch_of(std::uint32_t slot) const;

  core::UniqueFd file_;
  core::Address base_;
  std::uint64_t slot_size_ = 0;
  std::uint32_t batch_slots_ = 0;
  std::vector<Batch> batches_;  // the first one is slot 0 alone
};

/// Where slot 0 can be: within reach of a 32-bit displacement, free with some space around.
[[nodiscard]] std::optional<core::Address> find_counter_base(const std::vector<core::Mapping>& maps,
                                                             std::uint64_t size);

}  // namespace sp::supervisor
