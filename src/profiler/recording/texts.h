#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/recording/payload.h"

namespace sp::profiler {

/// The texts of a recording by their numbers.
class Texts {
 public:
  /// Takes a chunk of them; false if it is damaged or not the next one, or there are too many.
  [[nodiscard]] bool add(std::span<const std::byte> payload) {
    PayloadReader in(payload);
    const std::uint32_t first = in.u32();
    const std::uint32_t count = in.u32();
    if (!in.ok() || first != ends_.size()) {
      return false;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string_view text = in.text();
      if (!in.ok() || text.size() > kMostBytes - all_.size()) {
        return false;
      }
      all_.insert(all_.end(), text.begin(), text.end());
      ends_.push_back(all_.size());
    }
    return !in.has_more();
  }

  /// "" for a number that none has. Valid until the next add(), also if this is moved.
  [[nodiscard]] std::string_view operator[](std::uint32_t number) const {
    if (number >= ends_.size()) {
      return {};
    }
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return {all_.data() + begin, ends_[number] - begin};
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

  std::vector<char> all_;  // keeps its place when it is moved
  std::vector<std::size_t> ends_;
};

}  // namespace sp::profiler
