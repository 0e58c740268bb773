#include "commands/diff/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sp::diff {
namespace {

/// The continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes,
/// "Incomplete Beta Function"). It converges in some sqrt(max(a, b)) terms.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kClose = 1e-14;
  const auto kept = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  const double most = 1000 + 20 * std::sqrt(std::max(a, b));
  double c = 1;
  double d = 1 / kept(1 - (a + b) * x / (a + 1));
  double sum = d;
  for (double m = 1; m < most; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept(1 + even * d);
    c = kept(1 + even / c);
    sum *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept(1 + odd * d);
    c = kept(1 + odd / c);
    sum *= d * c;
    if (std::fabs(d * c - 1) < kClose) {
      break;
    }
  }
  return sum;
}

double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// I_x(a, b), regularised.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) {
    return x <= 0 ? 0 : 1;
  }
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                   : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double clamped(double p) { return std::clamp(p, 0.0, 1.0); }

}  // namespace

double binomial_p(std::uint64_t k, std::uint64_t n, double p) {
  const auto successes = static_cast<double>(k);
  const auto failures = static_cast<double>(n - k);
  const double at_most = k == n ? 1 : incomplete_beta(failures, successes + 1, 1 - p);
  const double at_least = k == 0 ? 1 : incomplete_beta(successes, failures + 1, p);
  return clamped(2 * std::min(at_most, at_least));
}

double normal_p(double z) { return std::erfc(std::fabs(z) / std::sqrt(2.0)); }

double student_p(double t, double degrees) {
  return std::isinf(t) ? 0 : incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

std::vector<double> holm_adjusted(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, clamped(p[order[i]] * static_cast<double>(p.size() - i)));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

Sample sample_of(std::span<const double> values) {
  Sample sample;
  sample.size = values.size();
  const auto size = static_cast<double>(values.size());
  for (const double value : values) {
    sample.mean += value / size;
  }
  for (const double value : values) {
    const double off = value - sample.mean;
    sample.variance += values.size() > 1 ? off * off / (size - 1) : 0;
  }
  return sample;
}

double means_p(const Sample& a, const Sample& b) {
  if (a.mean == b.mean || a.size + b.size < 3) {
    return 1;
  }
  const auto size_a = static_cast<double>(a.size);
  const auto size_b = static_cast<double>(b.size);
  const double degrees = size_a + size_b - 2;
  const double variance = (a.variance * (size_a - 1) + b.variance * (size_b - 1)) / degrees;
  return student_p((b.mean - a.mean) / std::sqrt(variance * (1 / size_a + 1 / size_b)), degrees);
}

double NoisyPair::mean() const {
  const auto size_a = static_cast<double>(a.size);
  const auto size_b = static_cast<double>(b.size);
  return (a.mean * size_a + b.mean * size_b) / (size_a + size_b);
}

double pooled_noise(std::span<const NoisyPair> pairs) {
  // Weighted so that the largest count: small ones are often noisy in a way of their own, which
  // noisy_p() takes from their own measurements.
  double beyond = 0;
  double weight = 0;
  for (const NoisyPair& pair : pairs) {
    for (const Sample& side : {pair.a, pair.b}) {
      if (side.size > 1 && side.mean > 0) {
        const auto degrees = static_cast<double>(side.size - 1);
        beyond += degrees * (side.variance - pair.unit * side.mean);
        weight += degrees * side.mean * side.mean;
      }
    }
  }
  return weight > 0 ? std::max(0.0, beyond / weight) : 0;
}

NoisyP noisy_p(const NoisyPair& pair, double noise) {
  if (pair.a.mean == pair.b.mean) {
    return {};
  }
  const double mean = pair.mean();
  const double sampling = pair.unit * mean;
  double variance = 0;  // of the difference of means
  double of_noise = 0;  // its part that sampling does not explain
  for (const Sample& side : {pair.a, pair.b}) {
    const auto size = static_cast<double>(side.size);
    const double one = std::max(sampling + noise * mean * mean, side.variance);
    variance += one / size;
    of_noise += std::max(one - sampling, 0.0) / size;
  }
  const double deviation = std::fabs(pair.b.mean - pair.a.mean) / std::sqrt(variance);
  const double alone = normal_p(deviation);
  const std::size_t runs = pair.a.size + pair.b.size;
  if (of_noise == 0 || runs < 3) {
    return {alone, runs < 3 ? 1 : alone};
  }
  const double share = of_noise / variance;
  return {alone, student_p(deviation, static_cast<double>(runs - 2) / (share * share))};
}

}  // namespace sp::diff
