#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sp::report {

/// Durations in nanoseconds, in 16 buckets for each power of two: percentiles are at most 6.25 %
/// above the true ones. Takes up to 8 KiB.
class DurationHistogram {
 public:
  void add(std::uint64_t ns) {
    const std::size_t bucket = bucket_of(ns);
    if (bucket >= counts_.size()) {
      counts_.resize(bucket + 1);
    }
    ++counts_[bucket];
    ++all_;
    least_ = all_ == 1 ? ns : std::min(least_, ns);
    most_ = std::max(most_, ns);
  }

  [[nodiscard]] std::uint64_t count() const { return all_; }
  [[nodiscard]] std::uint64_t least() const { return least_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  /// The duration that `percent` of all do not exceed: 0 if there are none.
  [[nodiscard]] std::uint64_t percentile(std::uint64_t percent) const {
    const std::uint64_t rank = all_ / 100 * percent + (all_ % 100 * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      seen += counts_[bucket];
      if (seen >= rank && seen > 0) {
        return std::clamp(last_of(bucket), least_, most_);
      }
    }
    return 0;
  }

 private:
  static constexpr unsigned kBits = 4;
  static constexpr std::uint64_t kBuckets = std::uint64_t{1} << kBits;

  [[nodiscard]] static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < kBuckets) {
      return ns;
    }
    const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kBits;
    return static_cast<std::size_t>(shift * kBuckets + (ns >> shift));
  }
  [[nodiscard]] static std::uint64_t last_of(std::size_t bucket) {
    if (bucket < kBuckets) {
      return bucket;
    }
    const auto shift = static_cast<unsigned>(bucket / kBuckets - 1);
    const std::uint64_t mantissa = bucket % kBuckets + kBuckets;
    return (mantissa << shift) + ((std::uint64_t{1} << shift) - 1);
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t all_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace sp::report
