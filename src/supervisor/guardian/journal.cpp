#include "supervisor/guardian/journal.h"

#include <sys/mman.h>

#include <cstring>

#include "arch/native.h"

namespace sp::supervisor {

template <typename Entry>
SharedEntries<Entry>::SharedEntries() {
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    shared_ = static_cast<Shared*>(memory);  // zeros are no entries
  }
}

template <typename Entry>
SharedEntries<Entry>::~SharedEntries() {
  if (shared_ != nullptr) {
    ::munmap(shared_, kSize);
  }
}

template <typename Entry>
template <typename Fill>
typename SharedEntries<Entry>::Id SharedEntries<Entry>::add(core::Address address,
                                                            const Fill& fill) {
  Id id = kNone;
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
  } else if (shared_ != nullptr && shared_->used < kEntries) {
    id = shared_->used;
  } else {
    return kNone;
  }
  Entry& entry = shared_->entries[id];
  fill(entry);
  entry.address.store(address.value(), std::memory_order_release);
  if (id == shared_->used) {
    shared_->used.store(id + 1, std::memory_order_release);
  }
  return id;
}

template <typename Entry>
void SharedEntries<Entry>::remove(Id id) {
  if (id != kNone) {
    shared_->entries[id].address.store(0, std::memory_order_release);
    free_.push_back(id);
  }
}

template class SharedEntries<Journal::Breakpoint>;
template class SharedEntries<Journal::Change>;

Journal::EntryId Journal::add(std::uint32_t space, core::Address address,
                              std::span<const std::byte> original, bool last) {
  return breakpoints_.add(address, [&](Breakpoint& entry) {
    constexpr std::size_t kBytes = arch::Native::kBreakpoint.size();
    static_assert(kBytes <= sizeof entry.original);
    entry.space_and_last = space | (last ? kLast : 0);
    std::memcpy(&entry.original, original.data(), kBytes);
  });
}

Journal::EntryId Journal::add_change(std::uint32_t space, const CodeChange& change) {
  return changes_.add(change.address, [&](Change& entry) {
    entry.space = space;
    entry.size = static_cast<std::uint16_t>(change.size);
    entry.is_second = change.is_second ? 1 : 0;
    entry.from = change.from;
    entry.to = change.to;
  });
}

}  // namespace sp::supervisor
