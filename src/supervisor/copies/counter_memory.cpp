#include "supervisor/copies/counter_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <utility>

#include "arch/native.h"
#include "core/function_copy.h"
#include "core/page.h"
#include "supervisor/linux/address_room.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using core::Address;

/// Sizes that are tried one after the other: addresses can be scarce (RLIMIT_AS).
struct Layout {
  std::uint64_t slot_size = 0;
  std::uint32_t slots = 0;  // mapped at once
};
constexpr auto kLayouts = std::to_array<Layout>({{8U << 20U, 64},
                                                 {8U << 20U, 16},
                                                 {1U << 20U, 64},
                                                 {1U << 20U, 16},
                                                 {256U << 10U, 16},
                                                 {64U << 10U, 16},
                                                 {64U << 10U, 4}});
/// Where neither the kernel nor a sanitizer puts anything, so that nothing of the target's is
/// moved.
constexpr Address kCountersHint{0x7EB0'0000'0000};

}  // namespace

CounterMemory::View::View(int fd, std::uint64_t size, std::uint64_t offset) {
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                          static_cast<off_t>(offset));
  if (at != MAP_FAILED) {
    (void)::madvise(at, size, MADV_DONTDUMP);
    words_ = {static_cast<std::uint64_t*>(at), size / kCounterSize};
  }
}

CounterMemory::View::View(View&& other) noexcept : words_(std::exchange(other.words_, {})) {}

CounterMemory::View& CounterMemory::View::operator=(View&& other) noexcept {
  std::swap(words_, other.words_);
  return *this;
}

CounterMemory::View::~View() {
  if (!words_.empty()) {
    ::munmap(words_.data(), words_.size_bytes());
  }
}

std::optional<Address> find_counter_base(const std::vector<core::Mapping>& maps,
                                         std::uint64_t size) {
  // From the top: a heap at a fixed address grows upwards, and what asks for MAP_32BIT gets the
  // lowest of what is free above 1 GiB.
  constexpr std::uint64_t kHighest = 0x7F00'0000;
  constexpr std::uint64_t kLowest = 0x1000'0000;
  constexpr std::uint64_t kStep = 0x0100'0000;
  constexpr std::uint64_t kSpace = 0x0010'0000;
  for (std::uint64_t at = kHighest; at >= kLowest; at -= kStep) {
    const core::AddressRange wanted{Address{at - kSpace}, Address{at + size + kSpace}};
    const bool is_free = std::none_of(maps.begin(), maps.end(), [&](const core::Mapping& mapping) {
      return mapping.range.begin < wanted.end && wanted.begin < mapping.range.end;
    });
    if (is_free) {
      return Address{at};
    }
  }
  return std::nullopt;
}

core::Result<CounterMemory> CounterMemory::create(const RemoteCaller& caller) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", caller.tid));
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto file = make_memory_file(caller, MemoryUse::data);
  if (!file) {
    return tl::unexpected(file.error());
  }
  CounterMemory memory;
  auto mapped = memory.map_first(caller, *file, core::parse_maps(*text));
  close_in_target(caller, *file);
  if (!mapped) {
    return tl::unexpected(mapped.error());
  }
  return memory;
}

core::Result<void> CounterMemory::map_first(const RemoteCaller& caller, const MemoryFile& file,
                                            const std::vector<core::Mapping>& maps) {
  file_ = core::UniqueFd(::fcntl(file.ours.get(), F_DUPFD_CLOEXEC, 0));
  core::Result<void> mapped = core::fail("mapping counters", ENOMEM);
  const std::uint64_t room = room_for_us(caller.tid);
  for (const Layout& layout : kLayouts) {
    // Where threads have no segment they share the first slot.
    const std::uint32_t slots = arch::Native::kHasCounterSegment ? layout.slots : 0;
    if ((slots + 1) * layout.slot_size > room) {
      continue;
    }
    const auto base = find_counter_base(maps, layout.slot_size);
    if (!base) {
      continue;
    }
    base_ = *base;
    slot_size_ = layout.slot_size;
    batch_slots_ = slots;
    mapped = map_batch(caller, file.in_target, 0, 1);
    if (mapped && slots > 0) {
      mapped = map_batch(caller, file.in_target, 1, slots);
    }
    if (mapped) {
      return {};
    }
    unmap(caller);
    batches_.clear();
    if (mapped.error().code != ENOMEM) {
      break;
    }
  }
  return mapped;
}

core::Result<void> CounterMemory::map_batch(const RemoteCaller& caller, std::uint64_t fd,
                                            std::uint32_t first, std::uint32_t slots) {
  auto batch = make_batch(first, slots);
  if (!batch) {
    return tl::unexpected(batch.error());
  }
  const std::uint64_t size = slots * slot_size_;
  const bool is_at_base = first == 0;
  const auto at =
      map_in_target(caller, {is_at_base ? base_ : kCountersHint, size, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_NORESERVE | (is_at_base ? MAP_FIXED_NOREPLACE : 0),
                             fd, first * slot_size_});
  if (!at) {
    return tl::unexpected(at.error());
  }
  add(std::move(*batch), {*at, *at + size}, *at);
  return {};
}

core::Result<CounterMemory::Batch> CounterMemory::make_batch(std::uint32_t first,
                                                             std::uint32_t slots) const {
  const std::uint64_t size = slots * slot_size_;
  if (::ftruncate(file_.get(), static_cast<off_t>(first * slot_size_ + size)) != 0) {
    return core::fail_errno("sizing counters");
  }
  View view(file_.get(), size, first * slot_size_);
  if (view.words().empty()) {
    return core::fail_errno("mapping counters");
  }
  return Batch{first, slots, {}, {}, std::move(view)};
}

void CounterMemory::add(Batch batch, core::AddressRange mapped, Address at) {
  batch.mapped = mapped;
  batch.at = at;
  batches_.push_back(std::move(batch));
}

core::Result<void> CounterMemory::grow(const RemoteCaller& caller) {
  constexpr std::uint32_t kFewest = 4;
  const std::uint64_t room = room_for_us(caller.tid);
  std::uint32_t slots = batch_slots_;
  while (slots > kFewest && slots * slot_size_ > room) {
    slots /= 2;
  }
  if (slots * slot_size_ > room) {
    return core::fail("mapping counters", ENOMEM);
  }
  const Batch& last = batches_.back();
  auto batch = make_batch(last.first + last.slots, slots);
  if (!batch) {
    return tl::unexpected(batch.error());
  }
  // Without a descriptor, which other threads would see: mremap(2) of size 0 maps once more what a
  // shared mapping maps, and behind it. So the first page is the last of the slots before.
  const std::uint64_t size = core::kPageSize + slots * slot_size_;
  const auto at =
      call_in_target(caller, "mapping counters", SYS_mremap,
                     (last.mapped.end - core::kPageSize).value(), 0, size, MREMAP_MAYMOVE);
  if (!at) {
    return tl::unexpected(at.error());
  }
  add(std::move(*batch), {Address{*at}, Address{*at + size}}, Address{*at + core::kPageSize});
  return {};
}

std::uint32_t CounterMemory::slots() const {
  return batches_.empty() ? 0 : batches_.back().first + batches_.back().slots;
}

std::uint32_t CounterMemory::capacity() const {
  return static_cast<std::uint32_t>(slot_size_ / kCounterSize);
}

std::optional<CounterMemory::TableWords> CounterMemory::table() const {
  constexpr std::uint64_t kLeast = std::uint64_t{8} << 20U;
  constexpr std::uint64_t kEntries =
      core::TransferTable::kEntries * core::TransferTable::kEntrySize;
  if (slot_size_ < kLeast) {
    return std::nullopt;
  }
  const auto entries = static_cast<std::uint32_t>((slot_size_ - kEntries) / kCounterSize);
  const auto before = static_cast<std::uint32_t>(entries - core::kPageSize / kCounterSize);
  return TableWords{entries, before, before + 1, before + 2, before + 3};
}

const CounterMemory::Batch& CounterMemory::batch_of(std::uint32_t slot) const {
  return *std::prev(std::upper_bound(
      batches_.begin(), batches_.end(), slot,
      [](std::uint32_t number, const Batch& batch) { return number < batch.first; }));
}

std::span<std::uint64_t> CounterMemory::words_of(std::uint32_t slot) const {
  const Batch& batch = batch_of(slot);
  return batch.view.words().subspan(std::size_t{slot - batch.first} * capacity(), capacity());
}

void CounterMemory::for_each_piece(std::uint32_t slot, std::uint32_t first, std::uint32_t count,
                                   const Use& use) const {
  // To touch a page of a hole would make it: only data is looked at.
  const auto begin_of_slot = static_cast<off_t>(slot * slot_size_);
  const auto end = begin_of_slot + static_cast<off_t>((first + count) * kCounterSize);
  const std::span<std::uint64_t> words = words_of(slot);
  for (off_t at = begin_of_slot + static_cast<off_t>(first * kCounterSize); at < end;) {
    const off_t data = ::lseek(file_.get(), at, SEEK_DATA);
    if (data < 0 || data >= end) {
      return;  // ENXIO: holes up to the file's end
    }
    const off_t hole = std::min(::lseek(file_.get(), data, SEEK_HOLE), end);
    const auto counter = static_cast<std::uint64_t>(data - begin_of_slot) / kCounterSize;
    use(static_cast<std::uint32_t>(counter),
        words.subspan(counter, static_cast<std::uint64_t>(hole - data) / kCounterSize));
    at = hole;
  }
}

std::uint64_t CounterMemory::base_of(std::uint32_t slot) const {
  const Batch& batch = batch_of(slot);
  return batch.at + (slot - batch.first) * slot_size_ - base_;
}

void CounterMemory::empty(std::uint32_t slot) {
  (void)::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(slot * slot_size_), static_cast<off_t>(slot_size_));
}

void CounterMemory::unmap(const RemoteCaller& caller) const {
  for (const core::AddressRange range : ranges()) {
    unmap_in_target(caller, range);
  }
}

std::vector<core::AddressRange> CounterMemory::ranges() const {
  std::vector<core::AddressRange> ranges;
  for (const Batch& batch : batches_) {
    ranges.push_back(batch.mapped);
  }
  return ranges;
}

}  // namespace sp::supervisor
