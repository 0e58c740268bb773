#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "arch/emulation.h"
#include "core/address.h"
#include "live/scratch.h"

namespace sp::test {

/// A copy of the scratch memory for the emulation.
class CopiedMemory : public arch::MemoryAccess {
 public:
  explicit CopiedMemory(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}

  bool read(core::Address from, std::span<std::byte> to) override {
    if (!holds(from, to.size())) {
      return false;
    }
    std::copy_n(bytes_.begin() + offset(from), to.size(), to.begin());
    return true;
  }
  bool write(core::Address to, std::span<const std::byte> from) override {
    if (!holds(to, from.size())) {
      return false;
    }
    std::ranges::copy(from, bytes_.begin() + offset(to));
    return true;
  }
  [[nodiscard]] bool equals(std::span<const std::byte> other) const {
    return std::memcmp(bytes_.data(), other.data(), bytes_.size()) == 0;
  }

 private:
  static bool holds(core::Address at, std::size_t size) {
    return at.value() >= kScratch && at.value() - kScratch <= kScratchSize - size;
  }
  static std::ptrdiff_t offset(core::Address at) {
    return static_cast<std::ptrdiff_t>(at.value() - kScratch);
  }

  std::vector<std::byte> bytes_;
};

}  // namespace sp::test
