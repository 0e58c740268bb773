// The test's own process is what is looked at.
#include "supervisor/instruments/module_scan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace sp::supervisor {
namespace {

using core::Address;

class Everything final : public CodeAnalysis {
 public:
  bool wants(const File& file) override { return !programs_only || file.is_program; }
  bool wants_libraries() override { return true; }
  core::InstrumentationCandidates plan(const File& /*file*/) override { return {}; }
  core::ControlFlowGraph map(core::AddressRange /*bounds*/, std::uint64_t /*bias*/,
                             std::span<const Address> /*leaders*/, const Read& /*read*/,
                             const core::TableHints* /*hints*/) override {
    return {};
  }
  const core::CodeReferences* references(const File& /*file*/) override { return &references_; }
  bool jumps_through_pointers(const core::ControlFlowGraph& /*graph*/,
                              core::AddressRange /*bounds*/,
                              std::span<const std::byte> /*code*/) override {
    return false;
  }
  tl::expected<core::FunctionCopy, core::CopyRefusal> copy(
      const core::FunctionToCopy& /*function*/, const core::CopyPlace& /*place*/) override {
    return tl::unexpected(core::CopyRefusal::not_mapped);
  }
  std::optional<std::uint64_t> symbol(const File& file, std::string_view name) override {
    asked_in = file.path;
    return name == "_dl_debug_state" ? event : std::nullopt;
  }
  bool programs_only = false;
  std::optional<std::uint64_t> event;
  std::string asked_in;

 private:
  core::CodeReferences references_;
};

struct ModuleScanTest : ::testing::Test {
  std::optional<ModuleScan> scan = ModuleScan::read({::getpid(), 1}, ::getpid());
  Everything analysis;
  const std::function<bool(core::AddressRange)> none = [](core::AddressRange) { return false; };
};

TEST_F(ModuleScanTest, finds_the_program_and_where_it_is_loaded) {
  ASSERT_TRUE(scan);
  analysis.programs_only = true;
  const auto modules = scan->find_wanted(analysis, none);
  ASSERT_EQ(modules.size(), 1U);
  EXPECT_EQ(modules[0].file.path, std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_TRUE(modules[0].bias);
  // The fixture's constructor is code of the program.
  const Address here{reinterpret_cast<std::uint64_t>(  // NOLINT
      +[]() -> int { return ::getpid(); })};
  EXPECT_TRUE(modules[0].range.contains(here));
}

TEST_F(ModuleScanTest, finds_libraries_where_they_are_wanted) {
  ASSERT_TRUE(scan);
  const auto modules = scan->find_wanted(analysis, none);
  EXPECT_TRUE(std::any_of(modules.begin(), modules.end(), [](const ScannedModule& module) {
    return module.file.path.find("libc.so") != std::string::npos && !module.file.is_program;
  }));
}

TEST_F(ModuleScanTest, leaves_out_what_is_known) {
  ASSERT_TRUE(scan);
  EXPECT_TRUE(scan->find_wanted(analysis, [](core::AddressRange) { return true; }).empty());
}

TEST_F(ModuleScanTest, looks_for_the_librarys_event_in_the_loader) {
  ASSERT_TRUE(scan);
  EXPECT_TRUE(scan->find_library_events(analysis).empty());
  EXPECT_NE(analysis.asked_in.find("/ld-"), std::string::npos);
}

TEST(ModuleScan, is_nothing_of_a_process_that_is_gone) {
  EXPECT_FALSE(ModuleScan::read({0x7FFFFFFF, 1}, 0x7FFFFFFF));
}

}  // namespace
}  // namespace sp::supervisor
