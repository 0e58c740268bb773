#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "live/support_capture.h"
#include "live/support_resolve.h"

namespace sp::supervisor {
namespace {

using test::CapturedProgram;
using test::Resolved;

/// The return addresses of a thread, known from its calls and returns while it is single-stepped.
/// The frames outside of the one where that began are taken from the first unwound stack.
class ShadowStack {
 public:
  explicit ShadowStack(std::vector<std::uint64_t> outer) : returns_(outer.rbegin(), outer.rend()) {}

  /// Call it after each executed instruction.
  void executed(const core::Instruction& instruction, core::Address pc_after) {
    const bool calls =
        instruction.flow == core::Flow::call || instruction.flow == core::Flow::indirect_call;
    if (calls) {
      returns_.push_back(instruction.next().value());
    } else if (instruction.flow == core::Flow::ret) {
      // A return to another address is a jump: the dynamic linker's trampolines do that.
      while (!returns_.empty() && returns_.back() != pc_after.value()) {
        returns_.pop_back();
      }
      if (!returns_.empty()) {
        returns_.pop_back();
      }
    }
  }
  /// Innermost first.
  std::vector<std::uint64_t> returns() const { return {returns_.rbegin(), returns_.rend()}; }

 private:
  std::vector<std::uint64_t> returns_;
};

std::vector<std::uint64_t> callers(const Resolved& resolved, const core::Stack& stack) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    out.push_back(resolved.address(stack.frames[i]));
  }
  return out;
}

std::string in_words(const Resolved& resolved, const core::Stack& stack) {
  std::string out = "end " + std::to_string(static_cast<int>(stack.end));
  for (const core::Frame& frame : stack.frames) {
    out += fmt::format("\n  {}+{:#x}", resolved.module(frame).path, frame.where.offset);
  }
  return out;
}

struct Tally {
  std::size_t steps = 0;
  std::size_t right = 0;
  std::size_t cut = 0;  // correct as far as it goes, and marked as truncated
  std::string first_wrong;
};

/// Steps from one breakpoint instruction of the program to the next and unwinds at every step.
Tally step_through(CapturedProgram& program) {
  constexpr std::size_t kMostSteps = 60'000;
  constexpr std::size_t kStackBytes = 32'768;
  Tally tally;
  Resolved resolved;
  const auto first = resolved.stack(program, program.raw_stack(kStackBytes));
  ShadowStack shadow(callers(resolved, first));
  while (tally.steps < kMostSteps) {
    const core::Address pc = arch::Native::pc(program.registers());
    const auto instruction = arch::Native::decode(program.memory(pc, 16), pc);
    if (!instruction || instruction->flow == core::Flow::stop || !program.step()) {
      break;
    }
    shadow.executed(*instruction, arch::Native::pc(program.registers()));
    const auto stack = resolved.stack(program, program.raw_stack(kStackBytes));
    ++tally.steps;
    const auto seen = callers(resolved, stack);
    const auto wanted = shadow.returns();
    if (stack.end == core::StackEnd::root && seen == wanted) {
      ++tally.right;
    } else if (core::is_truncated(stack.end) && seen.size() < wanted.size() &&
               std::equal(seen.begin(), seen.end(), wanted.begin())) {
      ++tally.cut;
    } else if (tally.first_wrong.empty()) {
      tally.first_wrong = in_words(resolved, stack);
    }
  }
  return tally;
}

class UnwindEveryInstruction : public testing::TestWithParam<std::string> {};

TEST_P(UnwindEveryInstruction, matches_the_calls_and_returns_that_were_seen) {
  const std::string path = std::string(SP_TARGETS_DIR) + "/unwind_chain_" + GetParam();
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " was not built: its compiler is not installed";
  }
  CapturedProgram program({path, "work"});
  ASSERT_TRUE(program.run_to_breakpoint());
  Tally all;
  for (int leg = 0; leg < 5; ++leg) {
    const Tally tally = step_through(program);
    all.steps += tally.steps;
    all.right += tally.right;
    all.cut += tally.cut;
    EXPECT_EQ(tally.right + tally.cut, tally.steps) << tally.first_wrong;
    if (!program.started() || !program.run_to_breakpoint()) {
      break;
    }
  }
  EXPECT_GT(all.steps, 2'000U);
  // The compiler's start and end files have no unwind tables: some 10 instructions.
  EXPECT_LE(all.cut, 20U);
  fmt::print("{}: {} steps, {} right, {} cut\n", GetParam(), all.steps, all.right, all.cut);
}

INSTANTIATE_TEST_SUITE_P(Builds, UnwindEveryInstruction,
                         testing::Values("o0", "o2", "no_pie", "static", "static_pie",
                                         "debug_frame", "clang", "lld", "pac_ret"));

}  // namespace
}  // namespace sp::supervisor
