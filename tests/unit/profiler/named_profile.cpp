#include "profiler/named_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "profiler/formats/folded.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler {
namespace {

using test::kLibc;
using test::kProgram;
using test::sample;
using test::TableNamer;

std::string folded(const Profile& profile, Namer& namer) {
  std::ostringstream out;
  write_folded(out, name_profile(profile, namer));
  return out.str();
}

Function find(const NamedProfile& profile, const std::string& name,
              const std::string& module = "/usr/bin/demo") {
  const auto found = std::find_if(
      profile.functions.begin(), profile.functions.end(),
      [&](const Function& function) { return function.name == name && function.module == module; });
  EXPECT_NE(found, profile.functions.end()) << name;
  return found == profile.functions.end() ? Function{} : *found;
}

class NamedProfileTest : public testing::Test {
 protected:
  NamedProfileTest() : profile_(false) { test::add_modules(profile_); }

  Profile profile_;
  TableNamer namer_;
};

TEST_F(NamedProfileTest, addresses_of_one_function_are_one_frame) {
  namer_.set({kProgram, 10}, "main");
  namer_.set({kProgram, 11}, "main");
  namer_.set({kProgram, 20}, "work");
  namer_.set({kProgram, 21}, "work");
  profile_.add(sample({20, 10}));
  profile_.add(sample({21, 11}));
  EXPECT_EQ(folded(profile_, namer_), "main;work 2\n");
}

TEST_F(NamedProfileTest, outer_frames_are_asked_for_as_return_addresses) {
  profile_.add(sample({20, 10}));
  (void)name_profile(profile_, namer_);
  const std::vector<std::pair<core::ModuleOffset, bool>> expected = {{{kProgram, 10}, true},
                                                                     {{kProgram, 20}, false}};
  EXPECT_EQ(namer_.asked, expected);
}

TEST_F(NamedProfileTest, inlined_functions_are_frames_and_callers) {
  namer_.set({kProgram, 10},
             {test::named("leaf", "demo.h", 3, true), test::named("middle", "demo.h", 9, true),
              test::named("main", "demo.c", 30)});
  profile_.add(sample({10}));
  EXPECT_EQ(folded(profile_, namer_), "main;middle;leaf 1\n");
  const NamedProfile named = name_profile(profile_, namer_);
  EXPECT_EQ(find(named, "leaf").self, 1);
  EXPECT_EQ(find(named, "main").self, 0);
  EXPECT_EQ(find(named, "main").total, 1);
}

TEST_F(NamedProfileTest, a_recursive_function_counts_once_for_a_stack) {
  namer_.set({kProgram, 10}, "main");
  namer_.set({kProgram, 20}, "fib");
  profile_.add(sample({20, 20, 20, 10}));
  profile_.add(sample({20, 10}));
  const NamedProfile named = name_profile(profile_, namer_);
  EXPECT_EQ(find(named, "fib").total, 2);
  EXPECT_EQ(find(named, "fib").self, 2);
  EXPECT_EQ(find(named, "main").total, 2);
}

TEST_F(NamedProfileTest, blocked_time_is_the_kernels_own_and_the_callers_total) {
  namer_.set({kProgram, 10}, "main");
  profile_.add(test::blocked_sample({10}, "futex"));
  EXPECT_EQ(folded(profile_, namer_), "main;[blocked: futex] 1\n");
  const NamedProfile named = name_profile(profile_, namer_);
  EXPECT_EQ(find(named, "main").self, 0);
  EXPECT_EQ(find(named, "main").total, 1);
  EXPECT_EQ(find(named, "[blocked: futex]", "[kernel]").self, 1);
}

TEST_F(NamedProfileTest, truncated_stacks_say_so_at_their_outer_end) {
  namer_.set({kProgram, 20}, "work");
  profile_.add(sample({20}, core::StackEnd::no_unwind_info));
  profile_.add(sample({20}));
  EXPECT_EQ(folded(profile_, namer_), "[truncated];work 1\nwork 1\n");
}

TEST_F(NamedProfileTest, a_sample_without_a_stack_counts_for_its_function_only) {
  namer_.set({kProgram, 20}, "work");
  profile_.add(test::pc_sample(20));
  profile_.add(sample({20}));
  EXPECT_EQ(folded(profile_, namer_), "work 1\n");
  const NamedProfile named = name_profile(profile_, namer_);
  EXPECT_EQ(find(named, "work").self, 2);
  EXPECT_EQ(find(named, "work").total, 1);
}

TEST_F(NamedProfileTest, functions_of_one_name_are_one_frame_but_two_rows) {
  core::SampleTaken other = sample({20});
  other.stack.frames[0].where = {kLibc, 20};
  namer_.set({kProgram, 20}, "init");
  namer_.set({kLibc, 20}, "init");
  profile_.add(sample({20}));
  profile_.add(other);
  EXPECT_EQ(folded(profile_, namer_), "init 2\n");
  const NamedProfile named = name_profile(profile_, namer_);
  EXPECT_EQ(find(named, "init").self, 1);
  EXPECT_EQ(find(named, "init", "/usr/lib/libc.so.6").self, 1);
}

TEST_F(NamedProfileTest, names_that_look_the_same_in_the_file_are_one_line) {
  namer_.set({kProgram, 1}, "a;b");
  namer_.set({kProgram, 2}, "a:b");
  profile_.add(sample({1}));
  profile_.add(sample({2}));
  EXPECT_EQ(folded(profile_, namer_), "a:b 2\n");
}

TEST_F(NamedProfileTest, the_source_is_the_line_with_most_samples_of_its_own) {
  namer_.set({kProgram, 10}, {test::named("work", "demo.c", 5)});
  namer_.set({kProgram, 11}, {test::named("work", "demo.c", 6)});
  namer_.set({kProgram, 12}, {test::named("work", "demo.c", 7)});
  namer_.set({kProgram, 20}, {test::named("leaf", "demo.c", 1)});
  profile_.add(sample({10}));
  profile_.add(sample({11}));
  profile_.add(sample({11}));
  for (int i = 0; i < 5; ++i) {
    profile_.add(sample({20, 12}));
  }
  EXPECT_EQ(find(name_profile(profile_, namer_), "work").source, "demo.c:6");
}

TEST_F(NamedProfileTest, a_thread_is_the_outermost_frame_where_asked_for) {
  Profile by_thread(true);
  core::SampleTaken taken = sample({10});
  taken.thread = {42, 1};
  by_thread.add(core::ThreadSeen{{1, 1}, {42, 1}, "wor;ker"});
  by_thread.add(taken);
  namer_.set({kProgram, 10}, "main");
  EXPECT_EQ(folded(by_thread, namer_), "wor:ker (42);main 1\n");
}

TEST_F(NamedProfileTest, code_of_no_known_module_is_said_to_be) {
  Profile bare(false);
  bare.add(sample({10}));
  const NamedProfile named = name_profile(bare, namer_);
  EXPECT_EQ(find(named, "?10", "[unknown]").kind, FunctionKind::unknown);
}

TEST_F(NamedProfileTest, a_collapsed_sample_keeps_the_frames_that_are_known) {
  Profile small(false, 6);
  small.add(sample({2, 1}));
  small.add(sample({3, 1}));
  namer_.set({kProgram, 1}, "main");
  namer_.set({kProgram, 2}, "work");
  EXPECT_EQ(folded(small, namer_), "[collapsed: too many distinct stacks] 1\nmain;work 1\n");
}

}  // namespace
}  // namespace sp::profiler
