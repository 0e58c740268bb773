#include "supervisor/instruments/exact/finished_step.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using core::Address;
using core::Flow;

bool at(Flow flow, std::uint64_t pc) {
  core::Instruction behind{Address{0x100}, 3, flow, {}};
  if (flow == Flow::jump || flow == Flow::branch || flow == Flow::call) {
    behind.target = Address{0x200};
  }
  return has_executed(behind, Address{pc});
}

TEST(FinishedStep, tells_a_late_trap_by_where_the_next_instruction_leads) {
  EXPECT_TRUE(at(Flow::next, 0x103));
  EXPECT_FALSE(at(Flow::next, 0x104));
  EXPECT_TRUE(at(Flow::jump, 0x200));
  EXPECT_FALSE(at(Flow::jump, 0x103));
  EXPECT_TRUE(at(Flow::call, 0x200));
  EXPECT_TRUE(at(Flow::branch, 0x103));
  EXPECT_TRUE(at(Flow::branch, 0x200));
  EXPECT_FALSE(at(Flow::branch, 0x201));
  EXPECT_FALSE(at(Flow::ret, 0x103));
  EXPECT_FALSE(at(Flow::indirect_jump, 0x103));
  EXPECT_FALSE(at(Flow::syscall, 0x103));
}

}  // namespace
}  // namespace sp::supervisor
