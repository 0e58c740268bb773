#include "supervisor/planted_board.h"

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

}  // namespace

PlantedBoard::PlantedBoard() {
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    board_ = static_cast<Board*>(memory);  // zeros are an empty board
  }
}

PlantedBoard::~PlantedBoard() {
  if (board_ != nullptr) {
    ::munmap(board_, kSize);
  }
}

PlantedBoard::Place PlantedBoard::add(std::uint32_t space, core::Address address,
                                      std::span<const std::byte> original) {
  Place place = kNowhere;
  if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
  } else if (board_ != nullptr && board_->used < kPlaces) {
    place = board_->used;
  } else {
    return kNowhere;
  }
  Entry& entry = board_->entries[place];
  entry.space = space;
  std::memcpy(&entry.original, original.data(), kBytes);
  entry.address.store(address.value(), std::memory_order_release);
  if (place == board_->used) {
    board_->used.store(place + 1, std::memory_order_release);
  }
  return place;
}

void PlantedBoard::remove(Place place) {
  if (place != kNowhere) {
    board_->entries[place].address.store(0, std::memory_order_release);
    free_.push_back(place);
  }
}

void PlantedBoard::restore(const std::map<std::uint32_t, core::UniqueFd>& memories) const {
  if (board_ == nullptr) {
    return;
  }
  for (Place place = 0; place < board_->used; ++place) {
    const Entry& entry = board_->entries[place];
    const auto address = static_cast<off_t>(entry.address.load(std::memory_order_acquire));
    const auto memory = memories.find(entry.space);
    std::array<std::byte, kBytes> there{};
    if (address == 0 || memory == memories.end() ||
        ::pread(memory->second.get(), there.data(), kBytes, address) !=
            static_cast<ssize_t>(kBytes) ||
        !std::equal(there.begin(), there.end(), arch::Native::kBreakpoint.begin())) {
      continue;
    }
    [[maybe_unused]] const ssize_t written =
        ::pwrite(memory->second.get(), &entry.original, kBytes, address);
  }
}

}  // namespace sp::supervisor
