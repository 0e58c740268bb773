#include "commands/diff/comparison.h"

#include <gtest/gtest.h>

#include "runs.h"

namespace sp::diff {
namespace {

using State = Pair::State;
using Names = std::vector<std::string>;
using test::counted_run;
using test::sampled_run;

Names changed(const Comparison& comparison) {
  Names names;
  for (const ComparedFunction& function : comparison.functions) {
    if (function.changed()) {
      names.push_back(function.key.name);
    }
  }
  return names;
}

const Pair& pair_of(const Comparison& comparison, const std::string& name, Metric metric) {
  for (const ComparedFunction& function : comparison.functions) {
    if (function.key.name == name) {
      return function.pairs[static_cast<std::size_t>(metric)];
    }
  }
  ADD_FAILURE() << "no " << name;
  return comparison.whole.front();
}

TEST(Comparison, of_a_run_with_itself_has_nothing) {
  const auto sampled = sampled_run({{"f", 500}, {"g", 20}});
  EXPECT_EQ(changed(compare({sampled}, {sampled})), Names{});
  const auto counted = counted_run({{"f", 5, 100}, {"g", 1, 7, "exact-until:0.5"}});
  EXPECT_EQ(changed(compare({counted}, {counted})), Names{});
  EXPECT_EQ(changed(compare({sampled, sampled, sampled}, {sampled, sampled, sampled})), Names{});
}

TEST(Comparison, of_counts_is_exact_and_sorted_by_effect) {
  const auto result = compare({counted_run({{"f", 5, 100}, {"g", 1, 1000}, {"same", 1, 1}})},
                              {counted_run({{"f", 5, 101}, {"g", 1, 1100}, {"same", 1, 1}})});
  EXPECT_EQ(changed(result), (Names{"g", "f"}));
  const Pair& pair = pair_of(result, "g", Metric::instructions);
  EXPECT_EQ(pair.before, 1000U);
  EXPECT_EQ(pair.after, 1100U);
  EXPECT_DOUBLE_EQ(pair.percent(), 10);
  EXPECT_EQ(pair.kind, "exact");
  EXPECT_FALSE(pair_of(result, "g", Metric::calls).changed);
  const Pair& whole = result.whole[static_cast<std::size_t>(Metric::instructions)];
  EXPECT_EQ(whole.before, 1101U);
  EXPECT_EQ(whole.after, 1202U);
}

TEST(Comparison, takes_a_function_that_did_not_run_for_a_zero) {
  auto before = counted_run({{"f", 5, 100}});
  const auto after = counted_run({{"f", 5, 100}, {"added", 3, 30}});
  EXPECT_EQ(changed(compare({before}, {after})), Names{"added"});
  EXPECT_EQ(pair_of(compare({after}, {before}), "added", Metric::calls).after, 0U);
  before.run.counts_all = false;  // it may have run without a probe
  const auto result = compare({before}, {after});
  EXPECT_EQ(changed(result), Names{});
  EXPECT_EQ(result.incomparable, 1U);
  EXPECT_EQ(pair_of(result, "added", Metric::calls).state, State::incomparable);
}

TEST(Comparison, leaves_out_counts_of_different_times) {
  const auto of = [](const std::string& before, const std::string& after) {
    return pair_of(compare({counted_run({{"f", 5, 100, before}})},
                           {counted_run({{"f", 6, 120, after}})}),
                   "f", Metric::calls)
        .state;
  };
  EXPECT_EQ(of("exact", "exact"), State::compared);
  EXPECT_EQ(of("exact-since:0.000", "exact-since:0.000"), State::compared);
  EXPECT_EQ(of("exact-since:0.000", "exact-since:0.100"), State::incomparable);
  EXPECT_EQ(of("exact-until:0.500", "exact-until:0.500"), State::incomparable);
  EXPECT_EQ(of("exact", "exact-until:0.500"), State::incomparable);
  EXPECT_EQ(of(std::string(kMixed), std::string(kMixed)), State::incomparable);
}

TEST(Comparison, of_counts_that_vary_wants_ranges_that_are_apart) {
  const auto runs = [](const std::vector<std::uint64_t>& calls) {
    std::vector<RunNumbers> all;
    for (const std::uint64_t number : calls) {
      all.push_back(counted_run({{"f", number, number}}));
    }
    return all;
  };
  EXPECT_EQ(changed(compare(runs({100, 104, 102}), runs({105, 109, 107}))), Names{});
  const auto apart = compare(runs({100, 104, 102}), runs({110, 114, 112}));
  EXPECT_EQ(changed(apart), Names{"f"});
  EXPECT_TRUE(pair_of(apart, "f", Metric::calls).varies);
  EXPECT_EQ(pair_of(apart, "f", Metric::calls).before, 102U);
  EXPECT_EQ(changed(compare(runs({100, 100}), runs({101, 101}))), Names{"f"});
}

TEST(Comparison, of_samples_is_of_times_not_of_shares) {
  // g has more of the samples only because f has fewer.
  const auto result =
      compare({sampled_run({{"f", 5000}, {"g", 5000}})}, {sampled_run({{"f", 2500}, {"g", 5000}})});
  EXPECT_EQ(changed(result), Names{"f"});
  EXPECT_EQ(pair_of(result, "f", Metric::self).before, 5'000'000'000U);
  EXPECT_EQ(pair_of(result, "f", Metric::self).kind, "sampled");
  EXPECT_TRUE(result.whole[static_cast<std::size_t>(Metric::total)].changed);
  // Twice as many samples, each of half the time.
  auto finer = sampled_run({{"f", 10'000}, {"g", 10'000}});
  finer.run.cpu_ns /= 2;
  EXPECT_EQ(changed(compare({sampled_run({{"f", 5000}, {"g", 5000}})}, {finer})), Names{});
}

TEST(Comparison, of_one_run_a_side_has_the_noise_of_sampling) {
  const auto of = [](std::uint64_t before, std::uint64_t after) {
    return changed(compare({sampled_run({{"f", before}, {"g", 1000}})},
                           {sampled_run({{"f", after}, {"g", 1000}})}))
        .size();
  };
  EXPECT_EQ(of(1000, 1100), 0U);  // 2.2 standard deviations
  EXPECT_EQ(of(1000, 1150), 1U);
  EXPECT_EQ(of(1'000'000, 1'010'000), 0U);  // less than 2 %
  EXPECT_EQ(of(1'000'000, 1'030'000), 1U);
  EXPECT_EQ(of(0, 6), 0U);
  EXPECT_EQ(of(0, 20), 1U);
}

TEST(Comparison, of_several_runs_has_the_noise_between_them) {
  const auto runs = [](const std::vector<std::uint64_t>& samples) {
    std::vector<RunNumbers> all;
    for (const std::uint64_t number : samples) {
      all.push_back(sampled_run({{"f", number}, {"g", 10'000}}));
    }
    return all;
  };
  EXPECT_EQ(changed(compare(runs({9'900, 10'000, 10'100}), runs({10'900, 11'000, 11'100}))),
            Names{"f"});
  // The same difference between runs that differ as much.
  EXPECT_EQ(changed(compare(runs({9'000, 10'000, 11'000}), runs({10'000, 11'000, 12'000}))),
            Names{});
}

TEST(Comparison, of_several_runs_takes_the_machine_out) {
  // The machine is 6 % slower in one run of each side; f takes a tenth more on B's.
  const auto runs = [](std::uint64_t f) {
    std::vector<RunNumbers> all;
    for (const std::uint64_t speed : {100U, 106U, 101U}) {
      all.push_back(sampled_run({{"f", f * speed}, {"g", 150 * speed}, {"h", 210 * speed}}));
    }
    return all;
  };
  EXPECT_EQ(changed(compare(runs(200), runs(220))), Names{"f"});
  EXPECT_EQ(changed(compare(runs(200), runs(200))), Names{});
  // All functions are slower by so much: that may be the machine.
  std::vector<RunNumbers> slower;
  for (const std::uint64_t speed : {106U, 112U, 107U}) {
    slower.push_back(sampled_run({{"f", 200 * speed}, {"g", 150 * speed}, {"h", 210 * speed}}));
  }
  EXPECT_EQ(changed(compare(runs(200), slower)), Names{});
}

TEST(Comparison, matches_names_across_modules_where_they_are_unique) {
  auto before = counted_run({{"f", 1, 1}});
  auto after = before;
  before.functions.clear();
  before.functions[{"libx.so.1", "moved"}] = {0, 0, Count{3, "exact"}, {}, {}};
  after.functions.clear();
  after.functions[{"libx.so.2", "moved"}] = {0, 0, Count{4, "exact"}, {}, {}};
  const auto result = compare({before}, {after});
  ASSERT_EQ(result.functions.size(), 1U);
  EXPECT_EQ(result.functions[0].key.module, "libx.so.2");
  EXPECT_EQ(pair_of(result, "moved", Metric::calls).before, 3U);
  after.functions[{"liby.so", "moved"}] = {0, 0, Count{5, "exact"}, {}, {}};
  EXPECT_EQ(compare({before}, {after}).functions.size(), 3U);
}

TEST(Comparison, compares_no_counts_with_samples) {
  const auto result = compare({counted_run({{"f", 5, 100}})}, {sampled_run({{"f", 100}})});
  EXPECT_FALSE(result.sampled);
  EXPECT_FALSE(result.counted);
  EXPECT_EQ(changed(result), Names{});
}

TEST(RunNumbers, join_functions_without_symbols_of_other_builds) {
  auto run = sampled_run({{"demo+0x10", 3}, {"demo+0x20", 4}, {"f", 5}});
  run.run.modules = {{"/bin/demo", "file", "aa", 0}};
  auto other = run;
  EXPECT_TRUE(rebuilt_modules({run}, {other}).empty());
  other.run.modules[0].build_id = "bb";
  const auto rebuilt = rebuilt_modules({run}, {other});
  EXPECT_EQ(rebuilt, std::set<std::string>{"demo"});
  join_unnamed(run, rebuilt);
  ASSERT_EQ(run.functions.size(), 2U);
  EXPECT_EQ((run.functions[{"demo", "demo+[no symbol]"}].self_samples), 7U);
  EXPECT_EQ((run.functions[{"demo", "f"}].self_samples), 5U);
}

}  // namespace
}  // namespace sp::diff
