#include "commands/diff/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "commands/diff/count_comparison.h"
#include "commands/diff/matching.h"
#include "commands/diff/time_comparison.h"

namespace sp::diff {
namespace {

using Runs = std::vector<RunNumbers>;
using State = Pair::State;

constexpr std::string_view kKernel = "[kernel]";

Pair& pair_of(std::array<Pair, kMetrics.size()>& pairs, Metric metric) {
  return pairs[static_cast<std::size_t>(metric)];
}

bool is_same_run(const RunNumbers& a, const RunNumbers& b) {
  const auto identity = [](const profiler::RecordedRun& run) {
    return std::tie(run.started_ns, run.elapsed_seconds, run.command, run.samples, run.cpu_ns);
  };
  return a.run.started_ns != 0 && identity(a.run) == identity(b.run);
}

bool all(const Runs& before, const Runs& after, const auto& holds) {
  return std::all_of(before.begin(), before.end(), holds) &&
         std::all_of(after.begin(), after.end(), holds);
}

const std::optional<Count>& count_in(const FunctionNumbers& function, Metric metric) {
  return metric == Metric::calls        ? function.calls
         : metric == Metric::executions ? function.executions
                                        : function.instructions;
}

/// The counts of one side. A function that did not run in a run that counts all has 0.
std::vector<std::optional<Count>> counts_of(const std::vector<const FunctionNumbers*>& numbers,
                                            const Runs& runs, const std::string& module,
                                            Metric metric) {
  std::vector<std::optional<Count>> counts;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto count = numbers[i] == nullptr ? std::nullopt : count_in(*numbers[i], metric);
    const bool is_zero =
        numbers[i] == nullptr && runs[i].run.counts_all && runs[i].counted_modules.contains(module);
    counts.push_back(is_zero ? Count{0, ""} : count);
  }
  return counts;
}

void compare_counts(const std::vector<MatchedFunction>& matched, const Runs& before,
                    const Runs& after, Comparison& result) {
  for (std::size_t i = 0; i < matched.size(); ++i) {
    bool left_out = false;
    for (const Metric metric : {Metric::calls, Metric::executions, Metric::instructions}) {
      const std::string& module = matched[i].key.module;
      const Pair pair = compare_counts(metric, counts_of(matched[i].before, before, module, metric),
                                       counts_of(matched[i].after, after, module, metric));
      left_out = left_out || pair.state == State::incomparable;
      pair_of(result.functions[i].pairs, metric) = pair;
    }
    result.incomparable += left_out ? 1 : 0;
  }
}

/// The counts of whole runs: sums, where each function has its count.
void compare_sums(const Runs& before, const Runs& after, Comparison& result) {
  const auto sums = [](const Runs& runs, Metric metric) {
    std::vector<std::optional<Count>> counts;
    for (const RunNumbers& run : runs) {
      std::optional<Count> sum;
      for (const auto& [key, function] : run.functions) {
        if (const auto& count = count_in(function, metric)) {
          sum = Count{(sum ? sum->number : 0) + count->number,
                      !sum || sum->kind == count->kind ? count->kind : std::string(kMixed)};
        }
      }
      counts.push_back(sum);
    }
    return counts;
  };
  for (const Metric metric : {Metric::calls, Metric::executions, Metric::instructions}) {
    pair_of(result.whole, metric) =
        compare_counts(metric, sums(before, metric), sums(after, metric));
  }
}

void compare_times(const std::vector<MatchedFunction>& matched, const Runs& before,
                   const Runs& after, Comparison& result) {
  const bool one_clock = all(before, after, [&](const RunNumbers& run) {
    return run.run.wall == before.front().run.wall;
  });
  std::vector<TimePair> times;
  std::vector<Pair*> pairs;
  const auto add = [&](std::size_t i, Metric metric) {
    const auto side = [&](const std::vector<const FunctionNumbers*>& numbers, const Runs& runs) {
      std::vector<SampledTime> measured;
      for (std::size_t run = 0; run < runs.size(); ++run) {
        const bool self = metric == Metric::self;
        const std::uint64_t samples = numbers[run] == nullptr ? 0
                                      : self                  ? numbers[run]->self_samples
                                                              : numbers[run]->total_samples;
        measured.push_back({samples, self ? runs[run].ns_per_sample() : runs[run].ns_per_stack()});
      }
      return measured;
    };
    times.push_back(
        {side(matched[i].before, before), side(matched[i].after, after), metric == Metric::total});
    pairs.push_back(&pair_of(result.functions[i].pairs, metric));
    pairs.back()->metric = metric;
  };
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (one_clock || matched[i].key.module != kKernel) {
      add(i, Metric::self);
      add(i, Metric::total);
    }
  }
  const auto whole = [](const Runs& runs) {
    std::vector<SampledTime> measured;
    for (const RunNumbers& run : runs) {
      measured.push_back({run.run.wall ? run.run.on_cpu : run.run.samples, run.ns_per_sample()});
    }
    return measured;
  };
  const TimePair whole_times{whole(before), whole(after), true};
  compare_times(times, whole_times, pairs);
  pair_of(result.whole, Metric::total) = compare_whole(whole_times);
}

/// How much of its whole a change is.
double share(const Comparison& result, const ComparedFunction& function, Metric metric) {
  const auto place = static_cast<std::size_t>(metric);
  const Pair& pair = function.pairs[place];
  if (!pair.changed) {
    return 0;
  }
  // A function's own time is a share of the run's, as the time with its callees is.
  const Pair& whole =
      result.whole[metric == Metric::self ? static_cast<std::size_t>(Metric::total) : place];
  const std::uint64_t most = std::max({whole.before, whole.after, std::uint64_t{1}});
  return std::fabs(pair.delta()) / static_cast<double>(most);
}

void sort_by_effect(Comparison& result) {
  const auto effect = [&](const ComparedFunction& function) {
    const auto of = [&](Metric metric) { return share(result, function, metric); };
    return std::tuple(std::max(of(Metric::self), of(Metric::instructions)), of(Metric::total),
                      std::max(of(Metric::calls), of(Metric::executions)));
  };
  std::stable_sort(result.functions.begin(), result.functions.end(),
                   [&](const auto& a, const auto& b) { return effect(a) > effect(b); });
}

}  // namespace

std::string_view name_of(Metric metric) {
  switch (metric) {
    case Metric::self:
      return "self";
    case Metric::total:
      return "total";
    case Metric::calls:
      return "calls";
    case Metric::executions:
      return "executions";
    case Metric::instructions:
      break;
  }
  return "instructions";
}

double Pair::delta() const {
  return after >= before ? static_cast<double>(after - before)
                         : -static_cast<double>(before - after);
}

double Pair::percent() const {
  if (before == after) {
    return 0;
  }
  return before == 0 ? std::numeric_limits<double>::infinity()
                     : 100 * delta() / static_cast<double>(before);
}

bool ComparedFunction::changed() const {
  return std::any_of(pairs.begin(), pairs.end(), [](const Pair& pair) { return pair.changed; });
}

Comparison compare(const Runs& before, const Runs& after) {
  Comparison result;
  for (const Metric metric : kMetrics) {
    pair_of(result.whole, metric).metric = metric;
  }
  result.sampled = all(before, after, [](const RunNumbers& run) { return run.is_sampled(); });
  result.counted =
      all(before, after, [](const RunNumbers& run) { return !run.run.counts_kind.empty(); });
  result.same_runs = before.size() == after.size() &&
                     std::equal(before.begin(), before.end(), after.begin(), is_same_run);
  const auto matched = match(before, after);
  for (const MatchedFunction& function : matched) {
    result.functions.push_back({function.key});
    for (const Metric metric : kMetrics) {
      pair_of(result.functions.back().pairs, metric).metric = metric;
    }
  }
  if (result.sampled) {
    compare_times(matched, before, after, result);
  }
  if (result.counted) {
    compare_counts(matched, before, after, result);
    compare_sums(before, after, result);
  }
  sort_by_effect(result);
  return result;
}

}  // namespace sp::diff
