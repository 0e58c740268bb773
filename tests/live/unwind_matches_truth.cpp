#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "live/support_capture.h"
#include "live/support_resolve.h"

namespace sp::supervisor {
namespace {

using core::StackEnd;
using test::CapturedProgram;
using test::Resolved;

/// The stack that the stopped program has recorded itself, innermost first.
std::vector<std::uint64_t> truth_of(const CapturedProgram& program, const core::RawStack& raw) {
  constexpr std::size_t kFirstArgument = arch::Native::kElfMachine == EM_X86_64 ? 5 : 0;
  const core::Address truth{raw.registers.values[kFirstArgument]};
  std::vector<std::uint64_t> returns;
  for (std::uint64_t i = program.word(truth); i > 0; --i) {
    returns.push_back(program.word(truth + 8 * i));
  }
  return returns;
}

/// The frames in the program's own file are those that it has recorded, and those to which a
/// library function returns.
void expect_truth(const CapturedProgram& program, const core::RawStack& raw, bool is_static) {
  Resolved resolved;
  const auto stack = resolved.stack(program, raw);
  ASSERT_FALSE(stack.frames.empty());
  EXPECT_EQ(stack.end, StackEnd::root);
  const core::ModuleId own = stack.frames.front().where.module;
  const auto all = program.maps();
  const auto* own_mapping = core::find_mapping(all, raw.registers.pc);
  ASSERT_NE(own_mapping, nullptr);
  std::vector<std::uint64_t> wanted;
  for (const std::uint64_t address : truth_of(program, raw)) {
    const auto* mapping = core::find_mapping(all, core::Address{address});
    if (mapping != nullptr && mapping->inode == own_mapping->inode) {
      wanted.push_back(address);
    }
  }
  ASSERT_GE(wanted.size(), 2U);
  std::size_t next = 0;
  for (std::size_t i = 1; i < stack.frames.size(); ++i) {
    const std::uint64_t address = resolved.address(stack.frames[i]);
    if (next < wanted.size() && address == wanted[next]) {
      ++next;
    } else if (!is_static && stack.frames[i].where.module == own) {
      EXPECT_NE(stack.frames[i - 1].where.module, own) << "frame " << i << " is made up";
    }
  }
  EXPECT_EQ(next, wanted.size());
}

struct Variant {
  std::string name;
  bool is_static = false;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class UnwindVariant : public testing::TestWithParam<Variant> {
 protected:
  std::string path() const {
    return std::string(SP_TARGETS_DIR) + "/unwind_chain_" + GetParam().name;
  }
  void SetUp() override {
    if (!std::filesystem::exists(path())) {
      GTEST_SKIP() << path() << " was not built: its compiler is not installed";
    }
  }
  void expect_all_shown(const std::string& what) {
    CapturedProgram program({path(), what});
    ASSERT_TRUE(program.started());
    ASSERT_TRUE(program.run_to_breakpoint());
    expect_truth(program, program.raw_stack(), GetParam().is_static);
    EXPECT_FALSE(program.run_to_breakpoint());
  }
};

TEST_P(UnwindVariant, walks_through_a_library_callback_alloca_and_vla) { expect_all_shown("sort"); }

TEST_P(UnwindVariant, walks_from_a_signal_handler_into_what_it_interrupted) {
  expect_all_shown("signal");
}

TEST_P(UnwindVariant, ends_at_a_threads_start) { expect_all_shown("thread"); }

TEST_P(UnwindVariant, walks_ten_thousand_frames) { expect_all_shown("deep"); }

TEST_P(UnwindVariant, walks_through_code_that_no_file_holds) { expect_all_shown("jit"); }

INSTANTIATE_TEST_SUITE_P(
    Builds, UnwindVariant,
    testing::Values(Variant{"o0"}, Variant{"o2"}, Variant{"no_pie"}, Variant{"static", true},
                    Variant{"static_pie", true}, Variant{"stripped"}, Variant{"no_header"},
                    Variant{"debug_frame"}, Variant{"frame_pointer"}, Variant{"clang"},
                    Variant{"lld"}, Variant{"lld_no_rosegment"}, Variant{"pac_ret"}),
    [](const testing::TestParamInfo<Variant>& variant) { return variant.param.name; });

TEST(Unwind, follows_an_exception_in_flight) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_exception"});
  ASSERT_TRUE(program.run_to_breakpoint());
  expect_truth(program, program.raw_stack(), false);
}

TEST(Unwind, marks_what_a_signal_interrupted_as_no_return_address) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o2", "signal"});
  ASSERT_TRUE(program.run_to_breakpoint());
  const auto raw = program.raw_stack();
  Resolved resolved;
  const auto stack = resolved.stack(program, raw);
  const auto truth = truth_of(program, raw);
  ASSERT_GE(truth.size(), 4U);
  std::size_t interrupted = 0;
  while (interrupted < stack.frames.size() &&
         resolved.address(stack.frames[interrupted]) != truth[2]) {
    ++interrupted;
  }
  ASSERT_LT(interrupted + 1, stack.frames.size());
  EXPECT_FALSE(stack.frames[interrupted].is_return_address);
  EXPECT_FALSE(stack.frames[interrupted - 1].is_return_address);  // the trampoline
  EXPECT_TRUE(stack.frames[interrupted - 2].is_return_address);   // the handler's inner frame
  EXPECT_TRUE(stack.frames[interrupted + 1].is_return_address);
}

TEST(Unwind, says_that_memory_is_missing_behind_a_handlers_own_stack) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o2", "altstack"});
  ASSERT_TRUE(program.run_to_breakpoint());
  Resolved resolved;
  const auto stack = resolved.stack(program, program.raw_stack());
  EXPECT_EQ(stack.end, StackEnd::bad_memory);
  EXPECT_GE(stack.frames.size(), 5U);  // leaf, with_array, on_signal, trampoline, interrupted
}

TEST(Unwind, says_that_the_copy_was_too_short) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o2", "deep", "500"});
  ASSERT_TRUE(program.run_to_breakpoint());
  Resolved resolved;
  const auto stack = resolved.stack(program, program.raw_stack(4096));
  EXPECT_EQ(stack.end, StackEnd::copy_ended);
  EXPECT_GT(stack.frames.size(), 20U);
}

TEST(Unwind, stops_at_the_most_frames_that_are_wanted) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o2", "deep", "500"});
  ASSERT_TRUE(program.run_to_breakpoint());
  Resolved resolved(100);
  const auto stack = resolved.stack(program, program.raw_stack());
  EXPECT_EQ(stack.end, StackEnd::too_deep);
  EXPECT_EQ(stack.frames.size(), 100U);
}

TEST(Unwind, invents_nothing_where_only_pc_and_sp_are_known) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o0", "sort"});
  ASSERT_TRUE(program.run_to_breakpoint());
  Resolved resolved;
  auto raw = program.raw_stack();
  const auto whole = resolved.stack(program, raw);
  raw.registers.complete = false;
  const auto part = resolved.stack(program, raw);
  ASSERT_LE(part.frames.size(), whole.frames.size());
  // Nothing is missing if all code finds its callers by sp alone.
  const bool is_whole = part.frames.size() == whole.frames.size();
  EXPECT_EQ(part.end, is_whole ? StackEnd::root : StackEnd::no_unwind_info);
  EXPECT_TRUE(std::equal(part.frames.begin(), part.frames.end(), whole.frames.begin()));
}

TEST(Unwind, gives_one_frame_of_an_unknown_module_for_a_wild_pc) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o2", "sort"});
  ASSERT_TRUE(program.run_to_breakpoint());
  Resolved resolved;
  auto raw = program.raw_stack();
  raw.registers.pc = core::Address{0x1234};
  const auto stack = resolved.stack(program, raw);
  ASSERT_EQ(stack.frames.size(), 1U);
  EXPECT_EQ(resolved.module(stack.frames[0]).kind, core::ModuleKind::unknown);
  EXPECT_EQ(stack.frames[0].where.offset, 0x1234U);
}

}  // namespace
}  // namespace sp::supervisor
