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

struct Left {
  std::uint64_t address;
  std::uint32_t original;
};

/// Breakpoints of one page, by address, with one read and one write: until the last is gone a
/// thread that blocks SIGTRAP dies of it. Nobody else writes to text meanwhile.
void restore_page(int memory, std::span<const Left> breakpoints) {
  std::array<std::byte, kPageSize + kBytes> bytes{};
  const std::uint64_t first = breakpoints.front().address;
  const std::size_t size = breakpoints.back().address + kBytes - first;
  if (::pread(memory, bytes.data(), size, static_cast<off_t>(first)) !=
      static_cast<ssize_t>(size)) {
    return;
  }
  for (const Left& one : breakpoints) {
    std::byte* const at = bytes.data() + (one.address - first);
    if (std::equal(at, at + kBytes, arch::Native::kBreakpoint.begin())) {
      std::memcpy(at, &one.original, kBytes);
    }
  }
  [[maybe_unused]] const ssize_t written =
      ::pwrite(memory, bytes.data(), size, static_cast<off_t>(first));
}

void restore_all(int memory, std::vector<Left>& breakpoints) {
  std::sort(breakpoints.begin(), breakpoints.end(),
            [](const Left& a, const Left& b) { return a.address < b.address; });
  for (std::span<const Left> rest = breakpoints; !rest.empty();) {
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const Left& one) {
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
    board_ = static_cast<Board*>(memory);  // zeros are an empty board
  }
}

Journal::~Journal() {
  if (board_ != nullptr) {
    ::munmap(board_, kSize);
  }
}

Journal::EntryId Journal::add(std::uint32_t space, core::Address address,
                              std::span<const std::byte> original, bool last) {
  EntryId place = kNoEntry;
  if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
  } else if (board_ != nullptr && board_->used < kPlaces) {
    place = board_->used;
  } else {
    return kNoEntry;
  }
  Entry& entry = board_->entries[place];
  entry.space = space | (last ? kLast : 0);
  std::memcpy(&entry.original, original.data(), kBytes);
  entry.address.store(address.value(), std::memory_order_release);
  if (place == board_->used) {
    board_->used.store(place + 1, std::memory_order_release);
  }
  return place;
}

void Journal::remove(EntryId place) {
  if (place != kNoEntry) {
    board_->entries[place].address.store(0, std::memory_order_release);
    free_.push_back(place);
  }
}

void Journal::restore(const std::map<std::uint32_t, core::UniqueFd>& memories) const {
  std::map<std::uint32_t, std::vector<Left>> first;
  std::map<std::uint32_t, std::vector<Left>> last;
  for (EntryId place = 0; board_ != nullptr && place < board_->used; ++place) {
    const Entry& entry = board_->entries[place];
    const std::uint64_t address = entry.address.load(std::memory_order_acquire);
    const std::uint32_t space = entry.space & ~kLast;
    if (address != 0 && memories.contains(space)) {
      const bool is_last = (entry.space & kLast) != 0;
      (is_last ? last : first)[space].push_back({address, entry.original});
    }
  }
  for (auto* const left : {&first, &last}) {
    for (auto& [space, breakpoints] : *left) {
      restore_all(memories.at(space).get(), breakpoints);
    }
  }
}

}  // namespace sp::supervisor
