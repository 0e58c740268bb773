#include "profiler/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "unit/profiler/sample_run.h"

namespace sp::profiler {
namespace {

using test::blocked_sample;
using test::pc_sample;
using test::sample;

std::uint64_t sum(const Profile& profile) {
  return std::accumulate(
      profile.nodes().begin(), profile.nodes().end(), std::uint64_t{0},
      [](std::uint64_t so_far, const Profile::Node& node) { return so_far + node.samples; });
}

TEST(Profile, an_equal_stack_adds_a_sample_and_no_node) {
  Profile profile(false);
  profile.add(sample({1, 2, 3}));
  const std::size_t nodes = profile.nodes().size();
  profile.add(sample({7}));
  profile.add(sample({1, 2, 3}));
  EXPECT_EQ(profile.nodes().size(), nodes + 1);
  EXPECT_EQ(sum(profile), 3);
}

TEST(Profile, begins_again_with_the_threads_that_are_alive) {
  Profile profile(true);
  const auto seen = [&](pid_t tid, pid_t pid) {
    profile.add(core::ThreadSeen{{pid, 0}, {tid, 0}, "thread " + std::to_string(tid), {}});
  };
  profile.add(core::ProcessSeen{{1, 0}, {}, "program"});
  profile.add(core::ProcessSeen{{7, 0}, {}, "another"});
  seen(1, 1);
  seen(2, 1);
  seen(7, 7);
  profile.add(core::ModuleSeen{});
  profile.add(sample({1, 2, 3}));
  const core::TimePoint since(std::chrono::seconds(5));
  profile.begin_again({{2, 0}}, since);
  EXPECT_EQ(sum(profile), 0U);
  EXPECT_EQ(profile.nodes().size(), Profile(true).nodes().size());
  EXPECT_EQ(profile.counts().total(), 0U);
  EXPECT_EQ(profile.modules().size(), 1U);
  ASSERT_EQ(profile.threads().size(), 1U);
  EXPECT_EQ(profile.threads()[0].name, "thread 2");
  EXPECT_EQ(profile.threads()[0].seen, since);
  ASSERT_EQ(profile.processes().size(), 1U);
  EXPECT_EQ(profile.processes()[0].process.pid, 1);
  EXPECT_EQ(profile.add(core::ThreadSeen{{1, 0}, {2, 0}, "renamed", {}}), 0U) << "it is known";
  profile.add(sample({1, 2, 3}));
  EXPECT_EQ(sum(profile), 1U);
  seen(9, 1);
  profile.begin_again({}, since);
  EXPECT_EQ(profile.threads().size(), 2U) << "nobody knows who is alive";
}

TEST(Profile, counts_samples_by_what_is_known_of_them) {
  Profile profile(false);
  profile.add(sample({1}));
  profile.add(sample({1}, core::StackEnd::copy_ended));
  profile.add(sample({1}, core::StackEnd::bad_memory));
  profile.add(blocked_sample({1}, "read"));
  profile.add(pc_sample(1));
  profile.add(core::SamplesLost{5});
  EXPECT_EQ(profile.counts().on_cpu, 4);
  EXPECT_EQ(profile.counts().blocked, 1);
  EXPECT_EQ(profile.counts().total(), 5);
  EXPECT_EQ(profile.counts().with_stack, 4);
  EXPECT_EQ(profile.counts().truncated, 2);
  EXPECT_EQ(profile.counts().ends, (std::array<std::uint64_t, 5>{2, 1, 0, 1, 0}));
  EXPECT_EQ(profile.counts().lost, 5);
}

TEST(Profile, a_wait_that_was_found_often_weighs_as_often) {
  Profile profile(false);
  core::SampleTaken taken = blocked_sample({1}, "futex");
  taken.count = 40;
  taken.stack.end = core::StackEnd::bad_memory;
  profile.add(taken);
  EXPECT_EQ(profile.counts().blocked, 40);
  EXPECT_EQ(profile.counts().with_stack, 40);
  EXPECT_EQ(profile.counts().truncated, 40);
  EXPECT_EQ(sum(profile), 40);
}

TEST(Profile, never_grows_past_its_limit_and_loses_no_sample) {
  constexpr std::size_t kLimit = 100;
  Profile profile(false, kLimit);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    profile.add(sample({i, i % 50, i % 7}));
    profile.add(pc_sample(100000 + i));
  }
  EXPECT_LE(profile.nodes().size(), kLimit + kLimit / 8);
  EXPECT_TRUE(profile.is_full());
  EXPECT_EQ(sum(profile), 10000);
  EXPECT_GT(profile.counts().collapsed, 9000U);
}

TEST(Profile, a_sample_that_finds_the_tree_full_stays_under_its_deepest_known_frame) {
  Profile profile(false, 8);  // 4 are taken by roots and markers
  profile.add(sample({3, 2, 1}));
  profile.add(sample({4, 2, 1}));
  profile.add(sample({5, 2, 1}));
  EXPECT_EQ(profile.counts().collapsed, 1);
  const auto deepest = std::find_if(profile.nodes().begin() + 4, profile.nodes().end(),
                                    [&](const Profile::Node& node) {
                                      return profile.steps()[node.step].kind == StepKind::collapsed;
                                    });
  ASSERT_NE(deepest, profile.nodes().end());
  EXPECT_EQ(profile.steps()[profile.nodes()[deepest->parent].step].value, 2);
}

TEST(Profile, a_full_tree_still_counts_the_stacks_that_it_knows) {
  Profile profile(false, 7);
  profile.add(sample({3, 2, 1}));
  profile.add(sample({9, 8}));
  profile.add(sample({3, 2, 1}));
  EXPECT_EQ(profile.counts().collapsed, 1);
  EXPECT_EQ(profile.nodes()[6].samples, 2);
}

TEST(Profile, tells_threads_apart_only_where_asked_to) {
  core::SampleTaken first = sample({1});
  first.thread = {10, 1};
  core::SampleTaken second = sample({1});
  second.thread = {10, 2};  // the kernel reused the number
  Profile together(false);
  together.add(first);
  together.add(second);
  Profile apart(true);
  apart.add(first);
  apart.add(second);
  EXPECT_EQ(together.nodes().size(), 5);
  EXPECT_EQ(apart.nodes().size(), 8);
  EXPECT_EQ(apart.threads().size(), 2);
}

TEST(Profile, keeps_a_threads_last_known_name) {
  Profile profile(true);
  profile.add(core::ThreadSeen{{1, 1}, {10, 1}, "demo"});
  profile.add(core::ThreadSeen{{1, 1}, {10, 1}, "worker"});
  profile.add(core::ThreadSeen{{1, 1}, {10, 1}, ""});
  ASSERT_EQ(profile.threads().size(), 1);
  EXPECT_EQ(profile.threads()[0].name, "worker");
}

TEST(Profile, lists_a_bounded_number_of_processes_and_counts_the_rest) {
  Profile profile(false);
  for (std::size_t i = 0; i < Profile::kMaxProcesses + 3; ++i) {
    profile.add(core::ProcessSeen{{static_cast<pid_t>(i), 1}, {}, "sh"});
  }
  EXPECT_EQ(profile.processes().size(), Profile::kMaxProcesses);
  EXPECT_EQ(profile.unlisted_processes(), 3);
}

TEST(Profile, a_module_that_is_seen_again_replaces_itself) {
  Profile profile(false);
  profile.add(core::ModuleSeen{test::module(test::kProgram, core::ModuleKind::file, "/a")});
  profile.add(core::ModuleSeen{test::module(test::kProgram, core::ModuleKind::file, "/b")});
  ASSERT_EQ(profile.modules().size(), 1);
  EXPECT_EQ(profile.modules()[0].path, "/b");
}

}  // namespace
}  // namespace sp::profiler
