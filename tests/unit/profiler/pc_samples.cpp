#include "profiler/pc_samples.h"

#include <gtest/gtest.h>

#include "unit/profiler/probed.h"

namespace sp::profiler {
namespace {

using test::at;
using test::blocked_sample;
using test::pc_sample;
using test::sample;

TEST(PcSamples, are_the_innermost_addresses_of_running_threads) {
  Profile profile(false);
  profile.add(sample({0x20, 0x10}));
  profile.add(sample({0x20, 0x18}));
  profile.add(sample({0x10}));
  profile.add(pc_sample(0x20));
  profile.add(blocked_sample({0x20, 0x10}, "read"));
  profile.add(sample({}));
  const auto samples = pc_samples(profile);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].where, at(0x10));
  EXPECT_EQ(samples[0].samples, 1U);
  EXPECT_EQ(samples[1].where, at(0x20));
  EXPECT_EQ(samples[1].samples, 3U);
}

TEST(PcSamples, are_counted_in_a_block_and_not_behind_it) {
  Profile profile(false);
  for (const std::uint64_t offset : {0x0fU, 0x10U, 0x17U, 0x18U}) {
    profile.add(sample({offset}));
  }
  const auto samples = pc_samples(profile);
  EXPECT_EQ(samples_in(samples, at(0x10), 8), 2U);
  EXPECT_EQ(samples_in(samples, at(0x19), 8), 0U);
  EXPECT_EQ(samples_in(samples, {test::kLibc, 0x10}, 8), 0U);
  EXPECT_EQ(samples_in({}, at(0x10), 8), 0U);
}

}  // namespace
}  // namespace sp::profiler
