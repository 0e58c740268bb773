#pragma once

#include <bit>
#include <cstdint>
#include <map>

namespace sp::core {

/// How often which values came, in 8 buckets for each power of two: each is at most 12.5 % wide.
/// Values are kept as 64-bit words; `is_signed` says how they compare. Takes some 100 buckets.
class ValueHistogram {
 public:
  /// Of a bucket: the values from `least` to `most`, as words.
  struct Bucket {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    std::uint64_t count = 0;
  };

  ValueHistogram() = default;
  explicit ValueHistogram(bool is_signed) : is_signed_(is_signed) {}

  void add(std::uint64_t value) {
    ++counts_[number_of(value)];
    least_ = count_ == 0 || is_below(value, least_) ? value : least_;
    most_ = count_ == 0 || is_below(most_, value) ? value : most_;
    ++count_;
  }
  void add(const ValueHistogram& other) {
    if (other.count_ == 0) {
      return;
    }
    for (const auto& [number, count] : other.counts_) {
      counts_[number] += count;
    }
    is_signed_ = other.is_signed_;
    least_ = count_ == 0 || is_below(other.least_, least_) ? other.least_ : least_;
    most_ = count_ == 0 || is_below(most_, other.most_) ? other.most_ : most_;
    count_ += other.count_;
  }

  [[nodiscard]] bool is_signed() const { return is_signed_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The exact ones; 0 where there are none.
  [[nodiscard]] std::uint64_t least() const { return least_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }
  /// The value that `percent` of all do not exceed: the end of its bucket, but not above most().
  [[nodiscard]] std::uint64_t percentile(std::uint64_t percent) const {
    const std::uint64_t rank = count_ / 100 * percent + (count_ % 100 * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (const auto& [number, count] : counts_) {
      seen += count;
      if (seen >= rank && seen > 0) {
        const std::uint64_t end = bounds_of(number).most;
        return is_below(most_, end) ? most_ : is_below(end, least_) ? least_ : end;
      }
    }
    return 0;
  }
  /// From the lowest to the highest; those without values are left out.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [number, count] : counts_) {
      Bucket bucket = bounds_of(number);
      bucket.count = count;
      visit(bucket);
    }
  }

 private:
  static constexpr unsigned kBits = 3;
  static constexpr std::uint64_t kBuckets = std::uint64_t{1} << kBits;

  [[nodiscard]] bool is_below(std::uint64_t a, std::uint64_t b) const {
    return is_signed_ ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  }
  [[nodiscard]] static std::int32_t number_of_size(std::uint64_t size) {
    if (size < kBuckets) {
      return static_cast<std::int32_t>(size);
    }
    const auto shift = static_cast<unsigned>(std::bit_width(size)) - 1 - kBits;
    return static_cast<std::int32_t>(shift * kBuckets + (size >> shift));
  }
  [[nodiscard]] static Bucket bounds_of_size(std::int32_t number) {
    const auto index = static_cast<std::uint64_t>(number);
    if (index < kBuckets) {
      return {index, index};
    }
    const auto shift = static_cast<unsigned>(index / kBuckets - 1);
    const std::uint64_t least = (index % kBuckets + kBuckets) << shift;
    return {least, least + ((std::uint64_t{1} << shift) - 1)};
  }
  /// Negative values have negative numbers.
  [[nodiscard]] std::int32_t number_of(std::uint64_t value) const {
    return is_signed_ && static_cast<std::int64_t>(value) < 0 ? -number_of_size(-value)
                                                              : number_of_size(value);
  }
  [[nodiscard]] static Bucket bounds_of(std::int32_t number) {
    if (number >= 0) {
      return bounds_of_size(number);
    }
    const Bucket size = bounds_of_size(-number);
    return {-size.most, -size.least};
  }

  bool is_signed_ = false;
  std::map<std::int32_t, std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace sp::core
