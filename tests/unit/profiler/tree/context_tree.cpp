#include "profiler/tree/context_tree.h"

#include <gtest/gtest.h>

#include "unit/profiler/tree/tree_events.h"

namespace sp::profiler {
namespace {

using test::sample;
using test::shown;
using test::TreeEvents;

constexpr std::uint64_t kMain = 0x1000;
constexpr std::uint64_t kF = 0x2000;
constexpr std::uint64_t kG = 0x3000;
constexpr std::uint64_t kLibrary = 0x9000;  // has no places

class TreeTest : public testing::Test {
 protected:
  ContextTree tree(ContextTree::Options options = {}) {
    return ContextTree(std::move(options), namer_);
  }
  /// Names the function that begins at `start`, which has no places.
  void name(std::uint64_t where, std::uint64_t start) {
    symbols::NamedFrame frame;
    frame.function = "named";
    frame.start = start;
    namer_.set({test::kProgram, where}, {frame});
  }

  test::TableNamer namer_;
};

TEST_F(TreeTest, has_a_node_for_each_level_of_a_recursion) {
  ContextTree grown = tree();
  grown.add(TreeEvents()
                .enter(kF, 100, 5)
                .enter(kF, 90, kF + 0x20)
                .leave(kF, 90)
                .enter(kF, 90, kF + 0x20)
                .enter(kF, 80, kF + 0x20)
                .leave(kF, 80)
                .leave(kF, 90)
                .leave(kF, 100)
                .taken());
  EXPECT_EQ(shown(grown),
            "root\n"
            "  2000 calls 1\n"
            "    2000 at 201f calls 2\n"
            "      2000 at 201f calls 1\n");
  EXPECT_EQ(grown.totals().calls.calls, 4U);
}

TEST_F(TreeTest, tells_two_call_sites_apart) {
  ContextTree grown = tree();
  grown.add(TreeEvents()
                .enter(kMain, 100)
                .enter(kF, 90, kMain + 0x10)
                .leave(kF, 90)
                .enter(kF, 90, kMain + 0x20)
                .leave(kF, 90)
                .enter(kF, 90, kMain + 0x20)
                .taken());
  EXPECT_EQ(shown(grown),
            "root\n"
            "  1000 calls 1\n"
            "    2000 at 100f calls 1\n"
            "    2000 at 101f calls 2\n");
}

TEST_F(TreeTest, goes_on_where_a_batch_ended) {
  ContextTree grown = tree();
  grown.add(TreeEvents().enter(kMain, 100).taken());
  grown.add(TreeEvents().enter(kF, 90, kMain + 0x10).taken());
  grown.add(TreeEvents().leave(kF, 90).enter(kG, 90, kMain + 0x20).taken());
  EXPECT_EQ(shown(grown),
            "root\n"
            "  1000 calls 1\n"
            "    2000 at 100f calls 1\n"
            "    3000 at 101f calls 1\n");
}

TEST_F(TreeTest, a_tail_call_comes_under_the_caller_of_the_function_that_jumps) {
  ContextTree grown = tree();
  grown.add(TreeEvents()
                .enter(kMain, 100)
                .enter(kF, 90, kMain + 0x10)
                .jump(kF, 90)
                .enter(kG, 90, kMain + 0x10)
                .leave(kG, 90)
                .leave(kMain, 100)
                .taken());
  EXPECT_EQ(shown(grown),
            "root\n"
            "  1000 calls 1\n"
            "    2000 at 100f calls 1\n"
            "    3000 at 100f calls 1\n");
}

TEST_F(TreeTest, what_an_exception_has_unwound_is_closed) {
  ContextTree grown = tree();
  grown.add(TreeEvents()
                .enter(kMain, 100)
                .enter(kF, 90, kMain + 0x10)
                .enter(kG, 80, kF + 0x10)
                .resume(kMain, 95)
                .enter(kG, 90, kMain + 0x30)
                .taken());
  EXPECT_EQ(shown(grown),
            "root\n"
            "  1000 calls 1\n"
            "    2000 at 100f calls 1\n"
            "      3000 at 200f calls 1\n"
            "    3000 at 102f calls 1\n");
}

TEST_F(TreeTest, a_return_of_what_was_entered_before_is_no_call) {
  ContextTree grown = tree();
  grown.add(TreeEvents().enter(kG, 80, kF + 0x10).leave(kG, 80).leave(kF, 90).taken());
  EXPECT_EQ(shown(grown), "root\n  3000 calls 1\n");
}

TEST_F(TreeTest, threads_share_it_or_have_each_their_own) {
  for (const bool by_thread : {false, true}) {
    ContextTree grown = tree({.by_thread = by_thread});
    grown.add(TreeEvents().of_thread(7).enter(kF, 90).taken());
    grown.add(TreeEvents().of_thread(8).enter(kG, 50).enter(kF, 40, kG + 8).end().taken());
    EXPECT_EQ(shown(grown), by_thread ? "root\n"
                                        "  thread 7\n"
                                        "    2000 calls 1\n"
                                        "  thread 8\n"
                                        "    3000 calls 1\n"
                                        "      2000 at 3007 calls 1\n"
                                      : "root\n"
                                        "  2000 calls 1\n"
                                        "  3000 calls 1\n"
                                        "    2000 at 3007 calls 1\n");
  }
}

TEST_F(TreeTest, folds_a_recursion_that_is_too_deep) {
  ContextTree grown = tree({.limits = {.depth = 3}});
  TreeEvents events;
  for (std::uint64_t level = 0; level < 50; ++level) {
    events.enter(level % 2 == 0 ? kF : kG, 100 - level, 0x2010);
  }
  grown.add(events.taken());
  EXPECT_EQ(grown.nodes().all().size(), 4U);
  EXPECT_EQ(grown.totals().calls.calls, 50U);
  EXPECT_EQ(grown.totals().calls.folded, 24U);  // g to the second level, f has one below it
  std::uint64_t calls = 0;
  for (const ContextNodes::Node& node : grown.nodes().all()) {
    calls += node.calls;
  }
  EXPECT_EQ(calls, 50U);
}

TEST_F(TreeTest, counts_at_the_parent_when_it_is_full) {
  ContextTree grown = tree({.limits = {.nodes = 3}});
  TreeEvents events;
  events.enter(kMain, 100);
  for (std::uint64_t at = 0; at < 5; ++at) {
    events.enter(kF, 90, kMain + 0x10 + at).leave(kF, 90);
  }
  grown.add(events.taken());
  EXPECT_EQ(shown(grown), "root\n  1000 calls 5\n    2000 at 100f calls 1\n");
  EXPECT_EQ(grown.totals().calls.collapsed, 4U);
  grown.add(sample({kG}));
  EXPECT_EQ(grown.totals().collapsed_samples, 1U);
}

TEST_F(TreeTest, lost_events_are_counted) {
  ContextTree grown = tree();
  grown.add(TreeEvents().lose(9).enter(kF, 90).taken());
  EXPECT_EQ(grown.totals().lost_events, 9U);
}

TEST_F(TreeTest, samples_come_under_the_nodes_of_calls) {
  name(kLibrary + 4, kLibrary);
  name(kLibrary + 8, kLibrary);
  ContextTree grown = tree();
  // main calls f by way of a library, and f the library, in which the sample is.
  grown.add(TreeEvents().enter(kMain, 100).enter(kF, 80, kLibrary + 9).taken());
  grown.add(sample({kLibrary + 4, kF + 0x30, kLibrary + 9, kMain + 0x11, 0x500}));
  EXPECT_EQ(shown(grown),
            "root\n"
            "  1000 calls 1\n"
            "    2000 at 9008 calls 1\n"
            "      9000 at 202f self 1\n");
  EXPECT_EQ(grown.totals().samples, 1U);
}

TEST_F(TreeTest, a_stack_without_places_is_kept_whole) {
  name(kLibrary + 4, kLibrary);
  name(0x501, 0x500);
  ContextTree grown = tree();
  core::SampleTaken blocked = sample({kLibrary + 4, 0x501});
  blocked.count = 3;
  grown.add(blocked);
  grown.add(test::pc_sample(kF));
  EXPECT_EQ(shown(grown), "root self 1\n  500\n    9000 at 500 self 3\n");
  EXPECT_EQ(grown.totals().without_stack, 1U);
}

TEST_F(TreeTest, asks_for_the_places_of_a_module_until_there_are_some) {
  int asked = 0;
  ContextTree grown = tree({.planned = [&](const core::Module& module) {
    ContextTree::Planned planned;
    if (++asked == 2) {
      planned.push_back({{module.id, kMain}, 0x100});
    }
    return planned;
  }});
  grown.add(core::ModuleSeen{test::module(test::kProgram, core::ModuleKind::file, "/bin/demo")});
  core::SampleTaken taken = sample({kMain + 4, 0x501});
  name(kMain + 4, kMain);
  name(0x501, 0x500);
  grown.add(taken);
  grown.add(taken);
  EXPECT_EQ(asked, 1);
  taken.time += std::chrono::seconds(1);
  grown.add(taken);
  taken.time += std::chrono::seconds(1);
  grown.add(taken);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(shown(grown), "root\n  500\n    1000 at 500 self 2\n  1000 self 2\n");
}

TEST_F(TreeTest, calls_of_what_was_entered_before_come_where_a_sample_has_shown_it) {
  ContextTree grown = tree({.planned = [&](const core::Module& module) {
    return ContextTree::Planned{{{module.id, kMain}, 0x100}, {{module.id, kF}, 0x100}};
  }});
  grown.add(core::ModuleSeen{test::module(test::kProgram, core::ModuleKind::file, "/bin/demo")});
  core::SampleTaken taken = sample({kF + 4, kMain + 0x11});
  taken.thread = {1, 1};
  grown.add(taken);
  // Of an attached program main and f are never entered again.
  grown.add(
      TreeEvents().enter(kG, 80, kF + 0x20).leave(kG, 80).enter(kF, 90, kMain + 0x11).taken());
  EXPECT_EQ(shown(grown),
            "root\n"
            "  1000\n"
            "    2000 at 1010 calls 1 self 1\n"
            "      3000 at 201f calls 1\n");
}

}  // namespace
}  // namespace sp::profiler
