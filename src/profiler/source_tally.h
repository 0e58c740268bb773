#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sp::profiler {

/// Finds the line of each function that has most of its samples.
class SourceTally {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;

  [[nodiscard]] std::uint32_t number(const std::string& file, std::uint32_t line);
  /// By number, "file:line". Nothing is left here.
  [[nodiscard]] std::vector<std::string> take_sources() { return std::move(sources_); }
  /// `self` samples were at this line, `total` at this line or in functions called from it.
  void add(std::uint32_t function, std::uint32_t source, std::uint64_t self, std::uint64_t total);

  /// Calls use(function, "file:line") once for each function with a known line. Self samples
  /// outrank those of callees; ties go to the first in alphabetical order.
  template <typename Use>
  void for_each_hottest(Use use) const {
    for (const auto& [function, best] : hottest()) {
      use(function, sources_[best]);
    }
  }

 private:
  struct Weight {
    std::uint64_t self = 0;
    std::uint64_t total = 0;
  };

  [[nodiscard]] std::unordered_map<std::uint32_t, std::uint32_t> hottest() const;

  std::vector<std::string> sources_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<std::uint64_t, Weight> weights_;  // function << 32 | source
};

}  // namespace sp::profiler
