#include "core/value_histogram.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace sp::core {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

TEST(ValueHistogram, buckets_are_at_most_an_eighth_wide) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{8},
                                    std::uint64_t{1000}, std::uint64_t{1} << 40U, kMost}) {
    ValueHistogram histogram;
    histogram.add(value);
    std::size_t buckets = 0;
    histogram.for_each([&](const ValueHistogram::Bucket& bucket) {
      EXPECT_LE(bucket.least, value);
      EXPECT_GE(bucket.most, value);
      EXPECT_LE(bucket.most - bucket.least, bucket.least / 8) << value;
      EXPECT_EQ(bucket.count, 1U);
      ++buckets;
    });
    EXPECT_EQ(buckets, 1U) << value;
  }
}

TEST(ValueHistogram, percentiles_are_those_of_the_values) {
  ValueHistogram histogram;
  for (std::uint64_t value = 1; value <= 1000; ++value) {
    histogram.add(value);
  }
  EXPECT_GE(histogram.percentile(50), 500U);
  EXPECT_LE(histogram.percentile(50), 563U);
  EXPECT_GE(histogram.percentile(99), 990U);
  EXPECT_EQ(histogram.percentile(100), 1000U);
  EXPECT_EQ(histogram.most(), 1000U);
  EXPECT_EQ(ValueHistogram().percentile(50), 0U);
}

TEST(ValueHistogram, signed_values_come_in_their_order) {
  ValueHistogram histogram(true);
  for (const std::int64_t value : {-1000, -1, 0, 5, 100}) {
    histogram.add(word(value));
  }
  EXPECT_EQ(histogram.least(), word(-1000));
  EXPECT_EQ(histogram.most(), 100U);
  EXPECT_EQ(histogram.percentile(40), word(-1));
  std::int64_t before = std::numeric_limits<std::int64_t>::min();
  histogram.for_each([&](const ValueHistogram::Bucket& bucket) {
    EXPECT_LE(static_cast<std::int64_t>(bucket.least), static_cast<std::int64_t>(bucket.most));
    EXPECT_GT(static_cast<std::int64_t>(bucket.least), before);
    before = static_cast<std::int64_t>(bucket.most);
  });
}

TEST(ValueHistogram, sums_are_those_of_all_values) {
  ValueHistogram a;
  ValueHistogram b;
  a.add(3);
  b.add(3);
  b.add(70);
  a.add(b);
  a.add(ValueHistogram());
  EXPECT_EQ(a.count(), 3U);
  EXPECT_EQ(a.least(), 3U);
  EXPECT_EQ(a.most(), 70U);
  EXPECT_EQ(a.percentile(50), 3U);
}

}  // namespace
}  // namespace sp::core
