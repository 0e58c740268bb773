#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "live/support_capture.h"
#include "live/support_resolve.h"

namespace sp::supervisor {
namespace {

using test::CapturedProgram;
using test::Resolved;

/// A copy of a target in a directory of its own.
class TargetCopy {
 public:
  explicit TargetCopy(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / fmt::format("unwind-copy-{}", ::getpid())) {
    std::filesystem::copy_file(std::string(SP_TARGETS_DIR) + "/" + name, path_,
                               std::filesystem::copy_options::overwrite_existing);
  }
  TargetCopy(const TargetCopy&) = delete;
  TargetCopy& operator=(const TargetCopy&) = delete;
  ~TargetCopy() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(UnwindCodeFiles, unwinds_a_program_whose_file_was_deleted) {
  TargetCopy copy("unwind_chain_o2");
  CapturedProgram program({copy.path(), "sort"});
  ASSERT_TRUE(program.run_to_breakpoint());
  std::filesystem::remove(copy.path());
  Resolved resolved;
  const auto stack = resolved.stack(program, program.raw_stack());
  EXPECT_EQ(stack.end, core::StackEnd::root);
  EXPECT_GT(stack.frames.size(), 6U);
  const auto& module = resolved.module(stack.frames.front());
  EXPECT_TRUE(module.deleted);
  EXPECT_EQ(module.path, copy.path());
  ASSERT_NE(module.image, nullptr);
  EXPECT_FALSE(module.build_id.empty());
}

TEST(UnwindCodeFiles, is_not_misled_by_a_file_that_took_the_name) {
  TargetCopy copy("unwind_chain_o2");
  CapturedProgram program({copy.path(), "sort"});
  ASSERT_TRUE(program.run_to_breakpoint());
  Resolved before;
  const auto wanted = before.stack(program, program.raw_stack());
  const auto other = copy.path() + "-new";
  std::filesystem::copy_file(std::string(SP_TARGETS_DIR) + "/unwind_chain_o0", other);
  std::filesystem::rename(other, copy.path());
  Resolved after;
  const auto stack = after.stack(program, program.raw_stack());
  EXPECT_EQ(stack.end, core::StackEnd::root);
  EXPECT_EQ(stack.frames.size(), wanted.frames.size());
  EXPECT_EQ(after.module(stack.frames[0]).build_id, before.module(wanted.frames[0]).build_id);
}

TEST(UnwindCodeFiles, tells_a_rebuilt_program_from_the_one_before) {
  TargetCopy copy("unwind_chain_o2");
  StackResolver resolver({});
  core::ModuleId first{};
  {
    CapturedProgram program({copy.path(), "sort"});
    ASSERT_TRUE(program.run_to_breakpoint());
    const auto stack = resolver.resolve({program.pid(), 1}, program.tid(), program.raw_stack());
    first = stack.frames.front().where.module;
  }
  // As a linker does: removes the old file first, and its inode may be reused.
  std::filesystem::remove(copy.path());
  std::filesystem::copy_file(std::string(SP_TARGETS_DIR) + "/unwind_chain_o0", copy.path());
  CapturedProgram program({copy.path(), "sort"});
  ASSERT_TRUE(program.run_to_breakpoint());
  const auto stack = resolver.resolve({program.pid(), 2}, program.tid(), program.raw_stack());
  EXPECT_EQ(stack.end, core::StackEnd::root);
  EXPECT_NE(stack.frames.front().where.module, first);
}

TEST(UnwindCodeFiles, stays_itself_on_stacks_of_noise) {
  CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o2", "sort"});
  ASSERT_TRUE(program.run_to_breakpoint());
  const auto whole = program.raw_stack(16'384);
  const auto maps = program.maps();
  Resolved resolved(1024);
  std::mt19937_64 random(7);
  const auto somewhere = [&] {
    const core::Mapping& mapping = maps[random() % maps.size()];
    return mapping.range.begin.value() + random() % mapping.range.size();
  };
  for (int round = 0; round < 3'000; ++round) {
    auto raw = whole;
    raw.registers.pc = core::Address{somewhere()};
    for (std::uint64_t& value : raw.registers.values) {
      value = random() % 3 == 0 ? random() : raw.registers.sp.value() + random() % 4096;
    }
    for (std::size_t at = 0; at + 8 <= raw.bytes.size(); at += 8) {
      const std::uint64_t word = random() % 2 == 0 ? somewhere() : random();
      std::copy_n(reinterpret_cast<const std::byte*>(&word), 8,
                  raw.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const auto stack = resolved.stack(program, raw);
    ASSERT_FALSE(stack.frames.empty());
    ASSERT_LE(stack.frames.size(), 1024U);
  }
}

TEST(UnwindCodeFiles, keeps_resolving_what_a_program_left_behind) {
  core::RawStack raw;
  std::vector<core::Mapping> maps;
  core::ProcessId process;
  {
    CapturedProgram program({std::string(SP_TARGETS_DIR) + "/unwind_chain_o2", "sort"});
    ASSERT_TRUE(program.run_to_breakpoint());
    raw = program.raw_stack();
    maps = program.maps();
    process = {program.pid(), 1};
  }
  StackResolver resolver({});
  resolver.process_started(process);
  resolver.set_maps(process, process.pid, maps);
  const auto stack = resolver.resolve(process, process.pid, raw);
  EXPECT_EQ(stack.end, core::StackEnd::root);
  EXPECT_GT(stack.frames.size(), 6U);
}

}  // namespace
}  // namespace sp::supervisor
