#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Tests of differences. Each p is two-sided: the probability of a difference at least as large
/// between two runs of the same program.
namespace sp::diff {

/// P(X = k or less likely on either side), X binomial with `n` trials of probability `p`: twice the
/// smaller tail, at most 1. n up to 2^53.
[[nodiscard]] double binomial_p(std::uint64_t k, std::uint64_t n, double p);
[[nodiscard]] double normal_p(double z);
/// Student's t with `degrees` of freedom, above 0.
[[nodiscard]] double student_p(double t, double degrees);

/// Holm's adjustment: if a p of the result is below a bound, the probability that any of those
/// below it is by chance is, too.
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> p);

/// Several measurements of one quantity.
struct Sample {
  double mean = 0;
  double variance = 0;  // of one measurement; 0 of fewer than two
  std::size_t size = 0;
};
[[nodiscard]] Sample sample_of(std::span<const double> values);

/// Of two sides with one variance: p of the difference of their means, by Student's t. 1 if neither
/// has more than one measurement, or nothing differs.
[[nodiscard]] double means_p(const Sample& a, const Sample& b);

/// A quantity of which each side has some measurements, each with sampling noise.
struct NoisyPair {
  Sample a;
  Sample b;
  /// The sampling variance of one measurement, per unit of the quantity. A share s of N samples
  /// that stand for u each has u (1 - s).
  double unit = 0;

  /// Of all measurements.
  [[nodiscard]] double mean() const;
};

/// The noise between runs beyond that of sampling, relative to the quantity (a standard deviation
/// squared), as all pairs have it together, the large ones above all.
[[nodiscard]] double pooled_noise(std::span<const NoisyPair> pairs);

struct NoisyP {
  /// The variance is that of sampling and of the noise, or what the pair's own measurements show if
  /// that is more. As if the noise was known for certain: for quantities whose noise is their own.
  double alone = 1;
  /// By Student's t, with degrees of freedom (Satterthwaite's) from the number of runs as far as
  /// the variance is of noise: for noise that all quantities of a run have in common.
  double of_runs = 1;
};
[[nodiscard]] NoisyP noisy_p(const NoisyPair& pair, double noise);

}  // namespace sp::diff
