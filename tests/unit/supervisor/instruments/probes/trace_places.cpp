#include "supervisor/instruments/probes/trace_places.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using core::Address;
using core::Flow;

/// Functions at 0x100 and 0x200, and a part of the first at 0x300.
FunctionIndex functions() {
  FunctionIndex index;
  std::vector<ProbedFunction> all(3);
  all[0].bounds = {Address{0x100}, Address{0x180}};
  all[0].landing_pads = {Address{0x140}};
  all[1].bounds = {Address{0x200}, Address{0x280}};
  all[2].bounds = {Address{0x300}, Address{0x320}};
  all[2].is_part = true;
  index.add(std::move(all));
  return index;
}

core::BasicBlock block(std::uint64_t start, std::vector<std::uint8_t> lengths, Flow flow,
                       std::optional<Address> target = {}) {
  core::BasicBlock made;
  made.start = Address{start};
  Address last = made.start;
  for (std::size_t i = 0; i + 1 < lengths.size(); ++i) {
    last = last + lengths[i];
  }
  made.last = {last, lengths.back(), flow, target};
  made.lengths = std::move(lengths);
  return made;
}

bool leaves(const core::BasicBlock& of, const std::vector<Address>& unresolved = {}) {
  const FunctionIndex index = functions();
  return trace_place(index, *index.at(Address{0x100}), unresolved, of.start, of.last).leaves;
}

TEST(TracePlaces, a_function_is_left_by_returns_and_jumps_to_other_functions) {
  EXPECT_TRUE(leaves(block(0x110, {1}, Flow::ret)));
  EXPECT_TRUE(leaves(block(0x110, {5}, Flow::jump, Address{0x200})));
  EXPECT_TRUE(leaves(block(0x110, {6}, Flow::branch, Address{0x200})));
  EXPECT_TRUE(leaves(block(0x110, {5}, Flow::jump, Address{0x9000})));  // a stub
  EXPECT_TRUE(leaves(block(0x110, {2}, Flow::indirect_jump), {Address{0x110}}));
}

TEST(TracePlaces, it_is_not_left_by_other_transfers) {
  EXPECT_FALSE(leaves(block(0x110, {5}, Flow::call, Address{0x200})));
  EXPECT_FALSE(leaves(block(0x110, {2}, Flow::jump, Address{0x150})));
  EXPECT_FALSE(leaves(block(0x110, {5}, Flow::jump, Address{0x300})));  // its part
  EXPECT_FALSE(leaves(block(0x110, {5}, Flow::jump, Address{0x210})));  // nobody's entry
  EXPECT_FALSE(leaves(block(0x110, {2}, Flow::indirect_jump)));         // a switch
  EXPECT_FALSE(leaves(block(0x110, {2}, Flow::stop)));
}

TEST(TracePlaces, a_jump_to_the_functions_own_entry_is_seen_since_it_is_no_call) {
  EXPECT_TRUE(leaves(block(0x110, {2}, Flow::jump, Address{0x100})));
}

TEST(TracePlaces, without_exits_only_the_entry_and_jumps_back_to_it_are_places) {
  FunctionIndex index = functions();
  ProbedFunction& function = *index.at(Address{0x100});
  function.has_exits = false;
  const auto place = [&](const core::BasicBlock& of) {
    return trace_place(index, function, {}, of.start, of.last);
  };
  EXPECT_TRUE(place(block(0x100, {1, 2}, Flow::next)).enters);
  EXPECT_FALSE(place(block(0x110, {1}, Flow::ret)).is_any());
  EXPECT_FALSE(place(block(0x110, {5}, Flow::jump, Address{0x200})).is_any());
  EXPECT_FALSE(place(block(0x140, {2}, Flow::next)).is_any());  // a landing pad
  EXPECT_TRUE(place(block(0x110, {2}, Flow::branch, Address{0x100})).leaves);
  EXPECT_FALSE(place(block(0x110, {5}, Flow::call, Address{0x100})).is_any());  // recursion
}

TEST(TracePlaces, a_part_is_not_entered) {
  const FunctionIndex index = functions();
  const core::Instruction last{Address{0x304}, 1, Flow::ret, {}};
  const TracePlace place = trace_place(index, *index.at(Address{0x300}), {}, Address{0x300}, last);
  EXPECT_FALSE(place.enters);
  EXPECT_TRUE(place.leaves);
}

TEST(TracePlaces, the_first_instruction_is_a_block_of_its_own_where_the_last_one_is_a_place_too) {
  const FunctionIndex index = functions();
  core::ControlFlowGraph graph;
  graph.blocks = {block(0x100, {4, 3, 1}, Flow::ret), block(0x108, {4, 1}, Flow::ret),
                  block(0x140, {2, 1}, Flow::ret), block(0x150, {1}, Flow::ret)};
  const auto cut = cut_at_places(graph, index, *index.at(Address{0x100}));
  std::vector<std::uint64_t> starts;
  for (const core::BasicBlock& one : cut.blocks) {
    starts.push_back(one.start.value());
  }
  EXPECT_EQ(starts, (std::vector<std::uint64_t>{0x100, 0x104, 0x108, 0x140, 0x142, 0x150}));
  EXPECT_EQ(cut.blocks[0].lengths, std::vector<std::uint8_t>{4});
  EXPECT_TRUE(cut.blocks[0].falls_through);
  EXPECT_EQ(cut.blocks[0].last.flow, Flow::next);
  EXPECT_EQ(cut.blocks[1].last.address, Address{0x107});
}

}  // namespace
}  // namespace sp::supervisor
