#include "commands/diff/time_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "commands/diff/relative_times.h"
#include "commands/diff/statistics.h"

namespace sp::diff {
namespace {

constexpr double kChance = 0.01;
constexpr double kLeastPercent = 2;

double mean_unit(const std::vector<SampledTime>& runs) {
  double sum = 0;
  for (const SampledTime& run : runs) {
    sum += run.unit;
  }
  return sum / static_cast<double>(runs.size());
}

Sample sample_of_times(const std::vector<SampledTime>& runs) {
  std::vector<double> times;
  for (const SampledTime& run : runs) {
    times.push_back(run.ns());
  }
  return sample_of(times);
}

NoisyPair noisy_pair(const TimePair& times) {
  return {sample_of_times(times.before), sample_of_times(times.after),
          (mean_unit(times.before) + mean_unit(times.after)) / 2};
}

/// The same for a function: a share of a time that is known.
NoisyPair noisy_share(const TimePair& times, double whole) {
  NoisyPair pair = noisy_pair(times);
  const double share = whole > 0 ? std::min(pair.mean() / whole, 1.0) : 0;
  pair.unit *= 1 - share;
  return pair;
}

/// Where the function's time is the same, a sample falls on B's side with the probability of B's
/// share in the sampling rates.
double one_run_p(const TimePair& times) {
  const SampledTime& before = times.before.front();
  const SampledTime& after = times.after.front();
  return binomial_p(after.samples, before.samples + after.samples,
                    before.unit / (before.unit + after.unit));
}

/// Functions with so few samples that even one side's having all of them could be by chance can
/// never be found to differ: they are no tests of the table.
bool is_testable(const TimePair& times) {
  std::uint64_t samples = 0;
  for (const auto* side : {&times.before, &times.after}) {
    for (const SampledTime& run : *side) {
      samples += run.samples;
    }
  }
  const double before = 1 / mean_unit(times.before);
  const double after = 1 / mean_unit(times.after);
  const double rarer = std::min(before, after) / (before + after);
  return 2 * std::pow(rarer, static_cast<double>(samples)) < kChance;
}

void fill(Pair& pair, const TimePair& times, double p) {
  pair.state = Pair::State::compared;
  pair.kind = "sampled";
  pair.before = static_cast<std::uint64_t>(std::llround(sample_of_times(times.before).mean));
  pair.after = static_cast<std::uint64_t>(std::llround(sample_of_times(times.after).mean));
  pair.p = p;
  pair.certain = p < kChance;
  pair.changed = pair.certain && std::fabs(pair.percent()) > kLeastPercent;
}

bool is_one_run_each(const TimePair& times) {
  return times.before.size() == 1 && times.after.size() == 1;
}

/// By the times alone.
std::vector<double> absolute_p(const std::vector<NoisyPair>& noisy) {
  const double noise = pooled_noise(noisy);
  std::vector<double> p;
  for (const NoisyPair& pair : noisy) {
    p.push_back(noisy_p(pair, noise).alone);
  }
  p = holm_adjusted(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i] = std::max(p[i], noisy_p(noisy[i], noise).of_runs);
  }
  return p;
}

std::vector<double> several_runs_p(std::span<const TimePair> times,
                                   const std::vector<std::size_t>& tested, const TimePair& whole) {
  const double whole_mean = noisy_pair(whole).mean();
  std::vector<NoisyPair> noisy;
  std::vector<TimePair> own;
  for (const std::size_t i : tested) {
    noisy.push_back(noisy_share(times[i], whole_mean));
    if (!times[i].with_callees) {
      own.push_back(times[i]);
    }
  }
  std::vector<double> p = absolute_p(noisy);
  const std::vector<RelativeChange> relative = relative_changes(own, whole);
  std::vector<double> relative_p;
  for (const RelativeChange& change : relative) {
    relative_p.push_back(change.p);
  }
  relative_p = holm_adjusted(relative_p);
  std::size_t next = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (times[tested[i]].with_callees) {
      continue;
    }
    const double change = noisy[i].b.mean / noisy[i].a.mean - 1;
    const double beyond = relative[next].change;
    const bool agrees = change * beyond > 0 && std::fabs(change) >= std::fabs(beyond) / 2;
    // Two tests of one time: each has half of the probability.
    p[i] = std::min({1.0, 2 * p[i], agrees ? 2 * relative_p[next] : 1.0});
    ++next;
  }
  return p;
}

}  // namespace

void compare_times(std::span<const TimePair> times, const TimePair& whole,
                   std::span<Pair* const> pairs) {
  std::vector<std::size_t> tested;
  for (std::size_t i = 0; i < times.size(); ++i) {
    fill(*pairs[i], times[i], 1);
    if (is_testable(times[i])) {
      tested.push_back(i);
    }
  }
  std::vector<double> p;
  if (is_one_run_each(whole)) {
    for (const std::size_t i : tested) {
      p.push_back(one_run_p(times[i]));
    }
    p = holm_adjusted(p);
  } else {
    p = several_runs_p(times, tested, whole);
  }
  for (std::size_t i = 0; i < tested.size(); ++i) {
    fill(*pairs[tested[i]], times[tested[i]], p[i]);
  }
}

Pair compare_whole(const TimePair& times) {
  Pair pair;
  pair.metric = Metric::total;
  fill(pair, times,
       is_one_run_each(times)
           ? one_run_p(times)
           : means_p(sample_of_times(times.before), sample_of_times(times.after)));
  return pair;
}

}  // namespace sp::diff
