#include "commands/diff/relative_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sp::diff {
namespace {

constexpr double kLargestShare = 0.5;
/// The variance of a median, relative to that of a mean.
constexpr double kMedian = 1.571;  // pi / 2

struct Function {
  NoisyPair pair;  // as if each run of a side had taken the same time
  double share = 0;

  [[nodiscard]] double ratio() const { return pair.b.mean / pair.a.mean; }
};

double mean_ns(const std::vector<SampledTime>& runs) {
  double sum = 0;
  for (const SampledTime& run : runs) {
    sum += run.ns();
  }
  return sum / static_cast<double>(runs.size());
}

Sample scaled(const std::vector<SampledTime>& runs, const std::vector<SampledTime>& wholes) {
  const double mean = mean_ns(wholes);
  std::vector<double> times;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    times.push_back(wholes[i].ns() > 0 ? runs[i].ns() * mean / wholes[i].ns() : 0);
  }
  return sample_of(times);
}

/// The change of all functions but `left_out`, and how uncertain one run makes it: its relative
/// variance.
std::pair<double, double> change_of_others(const std::vector<Function>& functions,
                                           const std::vector<std::size_t>& by_ratio,
                                           std::size_t left_out, double noise) {
  double weight = 0;
  double uncertainty = 0;
  for (const std::size_t i : by_ratio) {
    if (i != left_out) {
      const double mean = functions[i].pair.mean();
      weight += mean;
      uncertainty += mean * mean * (functions[i].pair.unit / mean + noise);
    }
  }
  double median = 1;
  double passed = 0;
  for (const std::size_t i : by_ratio) {
    passed += i == left_out ? 0 : functions[i].pair.mean();
    if (i != left_out && passed >= weight / 2) {
      median = functions[i].ratio();
      break;
    }
  }
  return {median, weight > 0 ? kMedian * uncertainty / (weight * weight) : 0};
}

}  // namespace

std::vector<RelativeChange> relative_changes(std::span<const TimePair> times,
                                             const TimePair& whole) {
  std::vector<RelativeChange> changes(times.size());
  const double all = (mean_ns(whole.before) + mean_ns(whole.after)) / 2;
  std::vector<Function> functions;
  std::vector<NoisyPair> pairs;
  double squares = 0;  // of the shares
  for (const TimePair& time : times) {
    Function function{{scaled(time.before, whole.before), scaled(time.after, whole.after)}, 0};
    function.share = all > 0 ? std::min(function.pair.mean() / all, 1.0) : 1;
    function.pair.unit =
        (time.before.front().unit + time.after.front().unit) / 2 * (1 - function.share);
    squares += function.share * function.share;
    pairs.push_back(function.pair);
    functions.push_back(function);
  }
  // Times that add up to the same in each run vary less than they would by themselves.
  const double kept = std::max(1 - squares, 0.1);
  const double noise = pooled_noise(pairs) / kept;
  std::vector<std::size_t> by_ratio;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].pair.a.mean > 0 && functions[i].pair.b.mean > 0) {
      by_ratio.push_back(i);
    }
  }
  std::sort(by_ratio.begin(), by_ratio.end(), [&](std::size_t a, std::size_t b) {
    return functions[a].ratio() < functions[b].ratio();
  });
  for (std::size_t i = 0; i < functions.size(); ++i) {
    NoisyPair pair = functions[i].pair;
    if (functions[i].share >= kLargestShare || pair.a.mean <= 0 || by_ratio.size() < 2) {
      continue;
    }
    const auto [others, uncertainty] = change_of_others(functions, by_ratio, i, noise);
    pair.b.mean /= others;
    pair.b.variance /= others * others;
    changes[i].change = pair.b.mean / pair.a.mean - 1;
    changes[i].p = noisy_p(pair, noise + uncertainty).alone;
  }
  return changes;
}

}  // namespace sp::diff
