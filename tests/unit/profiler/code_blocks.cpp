#include "profiler/code_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/profiler/counted.h"

namespace sp::profiler {
namespace {

using test::at;
using test::Counted;
using test::EdgeFlow;

constexpr std::uint64_t kOneThread = 1;

CountedCode derived(const Counted& counted, std::uint64_t threads = kOneThread) {
  CodeProfile profile;
  profile.add(counted.taken());
  return derive_blocks(profile, threads);
}

CodeBlock block_at(const CountedCode& code, std::uint64_t offset) {
  const auto found =
      std::find_if(code.blocks.begin(), code.blocks.end(),
                   [&](const CodeBlock& block) { return block.start == at(offset); });
  EXPECT_NE(found, code.blocks.end()) << offset;
  return found == code.blocks.end() ? CodeBlock{} : *found;
}

std::uint64_t hits_of(const CountedCode& code, std::uint64_t from, std::uint64_t to,
                      EdgeFlow flow) {
  std::uint64_t hits = 0;
  for (const auto& edge : code.edges) {
    hits += edge.from == at(from) && edge.to == at(to) && edge.flow == flow ? edge.hits : 0;
  }
  return hits;
}

TEST(CodeBlocks, a_run_that_nothing_jumps_into_is_one_block) {
  const CountedCode code = derived(Counted().run(0x10, {4, 3, 2}).enter(0x10, 5));
  ASSERT_EQ(code.blocks.size(), 1U);
  EXPECT_EQ(code.blocks[0].size, 9U);
  EXPECT_EQ(code.blocks[0].instructions, 3U);
  EXPECT_EQ(code.blocks[0].last, 0x17U);
  EXPECT_EQ(code.blocks[0].hits, 5U);
}

TEST(CodeBlocks, a_loop_splits_the_run_that_falls_into_its_body) {
  const CountedCode code = derived(test::loop(100));
  ASSERT_EQ(code.blocks.size(), 3U);
  const CodeBlock setup = block_at(code, 0x10);
  EXPECT_EQ(setup.size, 8U);
  EXPECT_EQ(setup.instructions, 2U);
  EXPECT_EQ(setup.hits, 1U);
  EXPECT_EQ(setup.last, 0x14U);
  const CodeBlock body = block_at(code, 0x18);
  EXPECT_EQ(body.size, 8U);
  EXPECT_EQ(body.hits, 100U);
  EXPECT_EQ(block_at(code, 0x20).hits, 1U);
  EXPECT_EQ(hits_of(code, 0x14, 0x18, EdgeFlow::fallthrough), 1U);
  EXPECT_EQ(executions(code), 102U);
  EXPECT_EQ(executed_instructions(code), 2U + 200U + 2U);
}

TEST(CodeBlocks, know_when_they_were_hit_first_and_last) {
  const CodeBlock body = block_at(derived(test::loop(100)), 0x18);
  EXPECT_EQ(body.first_hit, core::TimePoint{std::chrono::seconds(1)}) << "fallen into";
  EXPECT_EQ(body.last_hit, core::TimePoint{std::chrono::seconds(3)});
}

TEST(CodeBlocks, hits_fall_through_several_leaders) {
  const CountedCode code = derived(Counted()
                                       .run(0x10, {1, 1, 1, 1})
                                       .run(0x11, {1, 1, 1})
                                       .run(0x12, {1, 1})
                                       .run(0x13, {1})
                                       .enter(0x10, 1)
                                       .edge(0x13, 0x11, EdgeFlow::taken, 10)
                                       .edge(0x13, 0x12, EdgeFlow::indirect, 100)
                                       .edge(0x13, 0x13, EdgeFlow::taken, 1000));
  EXPECT_EQ(block_at(code, 0x10).hits, 1U);
  EXPECT_EQ(block_at(code, 0x11).hits, 11U);
  EXPECT_EQ(block_at(code, 0x12).hits, 111U);
  EXPECT_EQ(block_at(code, 0x13).hits, 1111U);
  EXPECT_EQ(code.consistency.checked, 4U);
  EXPECT_EQ(code.consistency.disagreeing, 0U);
  EXPECT_EQ(code.consistency.unfinished, 1U) << "the thread is in there";
}

TEST(CodeBlocks, a_jump_into_the_middle_of_an_instruction_does_not_split_it) {
  // 0x10: lock cmpxchg (5), jne (2); entered past the lock prefix it is cmpxchg (4), jne (2).
  const CountedCode code = derived(Counted()
                                       .run(0x10, {5, 2})
                                       .run(0x11, {4, 2})
                                       .run(0x17, {1})
                                       .enter(0x10, 3)
                                       .enter(0x11, 4)
                                       .edge(0x15, 0x17, EdgeFlow::fallthrough, 7));
  EXPECT_EQ(block_at(code, 0x10).hits, 3U);
  EXPECT_EQ(block_at(code, 0x10).size, 7U);
  EXPECT_EQ(block_at(code, 0x11).hits, 4U);
  EXPECT_EQ(block_at(code, 0x11).size, 6U);
  EXPECT_EQ(block_at(code, 0x17).hits, 7U);
  EXPECT_EQ(code.consistency.disagreeing, 0U) << "they end in the same jne";
}

TEST(CodeBlocks, a_run_that_was_never_entered_splits_nothing) {
  const CountedCode code = derived(Counted().run(0x10, {1, 1}).run(0x11, {1}).enter(0x10));
  EXPECT_EQ(code.blocks.size(), 1U);
  EXPECT_EQ(code.blocks[0].size, 2U);
}

TEST(CodeBlocks, offsets_of_two_modules_do_not_meet) {
  Counted counted;
  counted.run(0x10, {1, 1}).run(0x11, {1}, test::kLibc).enter(0x10);
  counted.edge(at(0x11), {test::kLibc, 0x11}, EdgeFlow::jump, 1);
  const CountedCode code = derived(counted);
  ASSERT_EQ(code.blocks.size(), 2U);
  EXPECT_EQ(block_at(code, 0x10).size, 2U);
  EXPECT_EQ(code.blocks[1].start, (core::ModuleOffset{test::kLibc, 0x11}));
}

TEST(CodeBlocks, say_where_what_came_in_did_not_come_out) {
  Counted counted = test::loop(100);
  counted.edge(0x21, 0x10, EdgeFlow::ret, 9);  // nine more edges into main than out of it
  const CountedCode code = derived(counted);
  EXPECT_EQ(code.consistency.checked, 3U);
  EXPECT_EQ(code.consistency.disagreeing, 2U) << "in at the loop, out at the end";
}

TEST(CodeBlocks, allow_one_difference_for_each_thread) {
  Counted counted = test::loop(100);
  counted.enter(0x10, 3);
  EXPECT_EQ(derived(counted, 1).consistency.disagreeing, 1U);
  EXPECT_EQ(derived(counted, 3).consistency.disagreeing, 0U);
  EXPECT_EQ(derived(counted, 3).consistency.unfinished, 4U);
}

TEST(CodeBlocks, tell_code_that_the_kernel_does_not_come_back_to_from_errors) {
  const CountedCode code = derived(Counted().run(0x10, {5, 2, 1}).enter(0x10, 50));
  EXPECT_EQ(code.consistency.never_left, 1U);
  EXPECT_EQ(code.consistency.disagreeing, 0U);
}

TEST(CodeBlocks, hits_of_code_that_is_not_known_are_counted) {
  const CountedCode code = derived(Counted().edge(0x10, 0x99, EdgeFlow::jump, 6));
  EXPECT_TRUE(code.blocks.empty());
  EXPECT_EQ(code.unplaced_hits, 6U);
}

}  // namespace
}  // namespace sp::profiler
