#include "commands/diff/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sp::diff {
namespace {

void expect_close(double value, double known) {
  EXPECT_NEAR(value, known, 1e-9 + std::fabs(known) * 1e-6);
}

// Known values: fractions, closed forms, and tables of the distributions.
TEST(BinomialP, is_twice_the_smaller_tail) {
  expect_close(binomial_p(5, 10, 0.5), 1);
  expect_close(binomial_p(1, 10, 0.5), 2 * 11 / 1024.0);
  expect_close(binomial_p(9, 10, 0.5), 2 * 11 / 1024.0);
  expect_close(binomial_p(0, 10, 0.5), 2 / 1024.0);
  expect_close(binomial_p(10, 10, 0.5), 2 / 1024.0);
  expect_close(binomial_p(0, 3, 0.25), 2 * 27 / 64.0);
  expect_close(binomial_p(0, 0, 0.5), 1);
}

TEST(BinomialP, agrees_with_the_normal_distribution_for_many) {
  const double z = (500'000 + 2000.5 - 500'000) / 500.0;
  EXPECT_NEAR(binomial_p(502'001, 1'000'000, 0.5) / normal_p(z), 1, 0.01);
  EXPECT_GT(binomial_p(5'000'000'000, 10'000'000'000, 0.5), 0.99);
  EXPECT_LT(binomial_p(5'001'000'000, 10'000'000'000, 0.5), 1e-80);
}

TEST(NormalP, has_the_known_quantiles) {
  expect_close(normal_p(0), 1);
  expect_close(normal_p(1.959963985), 0.05);
  expect_close(normal_p(-2.575829304), 0.01);
}

TEST(StudentP, has_the_known_quantiles) {
  expect_close(student_p(0, 4), 1);
  expect_close(student_p(4.604094871, 4), 0.01);
  expect_close(student_p(-2.776445105, 4), 0.05);
  expect_close(student_p(63.65674116, 1), 0.01);
  expect_close(student_p(2.575829304, 1e9), 0.01);
  EXPECT_EQ(student_p(std::numeric_limits<double>::infinity(), 4), 0);
}

TEST(Holm, multiplies_the_smallest_by_the_number_of_tests) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.005, 0.9};
  const auto adjusted = holm_adjusted(p);
  expect_close(adjusted[3], 0.025);
  expect_close(adjusted[0], 0.04);
  expect_close(adjusted[2], 0.09);
  expect_close(adjusted[1], 0.09);  // 0.08, but not below the one before
  expect_close(adjusted[4], 0.9);
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(MeansP, is_students_test) {
  const std::vector<double> a{1, 2, 3};
  const std::vector<double> b{3, 4, 5};
  // t = 2 / sqrt(1 * 2/3) = 2.449, 4 degrees of freedom.
  expect_close(means_p(sample_of(a), sample_of(b)), 0.0704840);
  EXPECT_EQ(means_p(sample_of(a), sample_of(a)), 1);
  const std::vector<double> one{7};
  EXPECT_EQ(means_p(sample_of(one), sample_of(std::vector<double>{9})), 1);
  EXPECT_EQ(means_p(sample_of(std::vector<double>{7, 7}), sample_of(std::vector<double>{9, 9})), 0);
}

NoisyPair pair_of(std::vector<double> a, std::vector<double> b, double unit) {
  return {sample_of(a), sample_of(b), unit};
}

TEST(PooledNoise, is_what_sampling_does_not_explain) {
  // Counts of 100 with a variance of 100: sampling alone.
  EXPECT_EQ(pooled_noise(std::vector{pair_of({90, 110, 100}, {100, 110, 90}, 1)}), 0);
  // 10,000 with a standard deviation of 500, that is 5 %; sampling explains 1 %.
  expect_close(pooled_noise(std::vector{pair_of({9'500, 10'000, 10'500}, {10'000}, 1)}),
               0.0025 - 0.0001);
  EXPECT_EQ(pooled_noise(std::vector{pair_of({1}, {9}, 1)}), 0);
}

TEST(NoisyP, has_sampling_and_the_noise_between_runs) {
  // 100 and 100 counts of 1 on each side: the variance of the difference is 2 * 150 / 2.
  const auto sampled = pair_of({100, 100}, {200, 200}, 1);
  expect_close(noisy_p(sampled, 0).alone, normal_p(100 / std::sqrt(150.0)));
  expect_close(noisy_p(sampled, 0).of_runs, normal_p(100 / std::sqrt(150.0)));
  // 10 % more noise: 150 + 225 for each measurement, 3/5 of which is noise with 2 degrees.
  expect_close(noisy_p(sampled, 0.01).alone, normal_p(100 / std::sqrt(375.0)));
  expect_close(noisy_p(sampled, 0.01).of_runs, student_p(100 / std::sqrt(375.0), 2 / (0.6 * 0.6)));
  // Its own noise, where that is more.
  EXPECT_GT(noisy_p(pair_of({0, 200}, {100, 300}, 1), 0).alone, 0.3);
  // Without sampling it is Student's test.
  expect_close(noisy_p(pair_of({1, 2, 3}, {3, 4, 5}, 0), 0).of_runs, 0.0704840);
  EXPECT_EQ(noisy_p(pair_of({1}, {9}, 1), 0).of_runs, 1);
  EXPECT_EQ(noisy_p(pair_of({5, 5}, {5, 5}, 1), 0).alone, 1);
  EXPECT_EQ(noisy_p(pair_of({5, 5}, {9, 9}, 0), 0).alone, 0);
}

TEST(NoisyP, rarely_finds_what_is_not_there) {
  // 2,000 pairs of 3 runs a side, sampling noise alone, from a fixed generator.
  std::uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (static_cast<double>(state >> 11U) + 0.5) / 9007199254740992.0;
  };
  const auto noisy = [&](double mean) {  // Box-Muller
    return mean + std::sqrt(mean) * std::sqrt(-2 * std::log(uniform())) *
                      std::cos(6.283185307179586 * uniform());
  };
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::vector<double> a{noisy(400), noisy(400), noisy(400)};
    const std::vector<double> b{noisy(400), noisy(400), noisy(400)};
    found += noisy_p(pair_of(a, b, 1), 0).alone < 0.01 ? 1 : 0;
  }
  EXPECT_LE(found, 30);  // 20 are expected at most
}

}  // namespace
}  // namespace sp::diff
