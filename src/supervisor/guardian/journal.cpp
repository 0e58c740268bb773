#include "supervisor/guardian/journal.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "arch/native.h"

namespace sp::supervisor {
namespace {

constexpr std::size_t kBytes = arch::Native::kBreakpoint.size();
static_assert(kBytes <= sizeof(std::uint32_t));

constexpr std::uint64_t kPageSize = 4096;

struct Breakpoint {
  std::uint64_t address;
  std::uint32_t original;
};

/// Restores the breakpoints of one page, sorted by address, with one read and one write: as long as
/// one is left, a thread that blocks SIGTRAP dies of it. Nobody else writes to text meanwhile.
void restore_page(int memory, std::span<const Breakpoint> breakpoints) {
  std::array<std::byte, kPageSize + kBytes> bytes{};
  const std::uint64_t first = breakpoints.front().address;
  const std::size_t size = breakpoints.back().address + kBytes - first;
  if (::pread(memory, bytes.data(), size, static_cast<off_t>(first)) !=
      static_cast<ssize_t>(size)) {
    return;
  }
  for (const Breakpoint& one : breakpoints) {
    std::byte* const at = bytes.data() + (one.address - first);
    if (std::equal(at, at + kBytes, arch::Native::kBreakpoint.begin())) {
      std::memcpy(at, &one.original, kBytes);
    }
  }
  [[maybe_unused]] const ssize_t written =
      ::pwrite(memory, bytes.data(), size, static_cast<off_t>(first));
}

void restore_all(int memory, std::vector<Breakpoint>& breakpoints) {
  std::sort(breakpoints.begin(), breakpoints.end(),
            [](const Breakpoint& a, const Breakpoint& b) { return a.address < b.address; });
  for (std::span<const Breakpoint> rest = breakpoints; !rest.empty();) {
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const Breakpoint& one) {
      return one.address / kPageSize != rest.front().address / kPageSize;
    });
    const auto page = static_cast<std::size_t>(end - rest.begin());
    restore_page(memory, rest.first(page));
    rest = rest.subspan(page);
  }
}

}  // namespace

Journal::Journal() {
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    shared_ = static_cast<Shared*>(memory);  // zeros are an empty journal
  }
}

Journal::~Journal() {
  if (shared_ != nullptr) {
    ::munmap(shared_, kSize);
  }
}

Journal::EntryId Journal::add(std::uint32_t space, core::Address address,
                              std::span<const std::byte> original, bool last) {
  EntryId id = kNoEntry;
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
  } else if (shared_ != nullptr && shared_->used < kEntries) {
    id = shared_->used;
  } else {
    return kNoEntry;
  }
  Entry& entry = shared_->entries[id];
  entry.space = space | (last ? kLast : 0);
  std::memcpy(&entry.original, original.data(), kBytes);
  entry.address.store(address.value(), std::memory_order_release);
  if (id == shared_->used) {
    shared_->used.store(id + 1, std::memory_order_release);
  }
  return id;
}

void Journal::remove(EntryId id) {
  if (id != kNoEntry) {
    shared_->entries[id].address.store(0, std::memory_order_release);
    free_.push_back(id);
  }
}

void Journal::restore(const std::map<std::uint32_t, core::UniqueFd>& memories) const {
  std::map<std::uint32_t, std::vector<Breakpoint>> first;
  std::map<std::uint32_t, std::vector<Breakpoint>> last;
  for (EntryId id = 0; shared_ != nullptr && id < shared_->used; ++id) {
    const Entry& entry = shared_->entries[id];
    const std::uint64_t address = entry.address.load(std::memory_order_acquire);
    const std::uint32_t space = entry.space & ~kLast;
    if (address != 0 && memories.contains(space)) {
      const bool is_last = (entry.space & kLast) != 0;
      (is_last ? last : first)[space].push_back({address, entry.original});
    }
  }
  for (auto* const of_spaces : {&first, &last}) {
    for (auto& [space, breakpoints] : *of_spaces) {
      restore_all(memories.at(space).get(), breakpoints);
    }
  }
}

}  // namespace sp::supervisor
