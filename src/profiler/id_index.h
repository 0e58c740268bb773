#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sp::profiler {

/// Spreads two words over 64 bits (the finaliser of splitmix64).
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15ULL ^ b;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// Finds the ids of values that are stored in a vector elsewhere: a hash table with 4 bytes a slot,
/// small enough for millions of tree nodes.
class IdIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The id for which `same` returns true, or kNone.
  template <typename Same>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, Same same) const {
    if (slots_.empty()) {
      return kNone;
    }
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      const std::uint32_t id = slots_[at];
      if (id == kNone || same(id)) {
        return id;
      }
    }
  }

  /// `hash_of` returns the hash of any id in the index and of `id`, which must be new.
  template <typename HashOf>
  void insert(std::uint32_t id, HashOf hash_of) {
    if ((used_ + 1) * 3 > slots_.size() * 2) {
      grow(hash_of);
    }
    place(id, hash_of(id));
    ++used_;
  }

  [[nodiscard]] std::size_t bytes() const { return slots_.capacity() * sizeof(std::uint32_t); }

 private:
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

  void place(std::uint32_t id, std::uint64_t hash) {
    std::size_t at = hash & mask();
    while (slots_[at] != kNone) {
      at = (at + 1) & mask();
    }
    slots_[at] = id;
  }

  template <typename HashOf>
  void grow(HashOf hash_of) {
    std::vector<std::uint32_t> old(slots_.empty() ? 1024 : slots_.size() * 2, kNone);
    old.swap(slots_);
    for (const std::uint32_t id : old) {
      if (id != kNone) {
        place(id, hash_of(id));
      }
    }
  }

  std::vector<std::uint32_t> slots_;
  std::size_t used_ = 0;
};

}  // namespace sp::profiler
