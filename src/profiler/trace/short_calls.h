#pragma once

#include <cstdint>
#include <vector>

namespace sp::profiler {

/// Some calls of a thread, by the numbers of their entries. Takes a bit for each call.
class ShortCalls {
 public:
  void add(std::uint64_t entry) {
    if (calls_.size() <= entry) {
      calls_.resize(entry + 1);
    }
    calls_[entry] = true;
  }
  [[nodiscard]] bool has(std::uint64_t entry) const {
    return entry < calls_.size() && calls_[entry];
  }

 private:
  std::vector<bool> calls_;
};

}  // namespace sp::profiler
