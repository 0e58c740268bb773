#include "profiler/source_tally.h"

#include <fmt/format.h>

#include <tuple>

namespace sp::profiler {

std::uint32_t SourceTally::number(const std::string& file, std::uint32_t line) {
  const auto [place, is_new] = numbers_.try_emplace(fmt::format("{}:{}", file, line),
                                                    static_cast<std::uint32_t>(sources_.size()));
  if (is_new) {
    sources_.push_back(place->first);
  }
  return place->second;
}

void SourceTally::add(std::uint32_t function, std::uint32_t source, std::uint64_t self,
                      std::uint64_t total) {
  if (source == kUnknown) {
    return;
  }
  Weight& weight = weights_[std::uint64_t{function} << 32U | source];
  weight.self += self;
  weight.total += total;
}

std::unordered_map<std::uint32_t, std::uint32_t> SourceTally::hottest() const {
  std::unordered_map<std::uint32_t, std::uint32_t> best_of;
  const auto is_hotter = [this](std::uint64_t a, std::uint64_t b) {
    const Weight& left = weights_.at(a);
    const Weight& right = weights_.at(b);
    const std::string& left_source = sources_[static_cast<std::uint32_t>(a)];
    const std::string& right_source = sources_[static_cast<std::uint32_t>(b)];
    return std::tie(right.self, right.total, left_source) <
           std::tie(left.self, left.total, right_source);
  };
  for (const auto& [key, weight] : weights_) {
    const auto function = static_cast<std::uint32_t>(key >> 32U);
    const auto source = static_cast<std::uint32_t>(key);
    const auto [place, is_new] = best_of.try_emplace(function, source);
    if (!is_new && is_hotter(key, std::uint64_t{function} << 32U | place->second)) {
      place->second = source;
    }
  }
  return best_of;
}

}  // namespace sp::profiler
