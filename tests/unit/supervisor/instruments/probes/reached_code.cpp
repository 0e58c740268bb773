#include "supervisor/instruments/probes/reached_code.h"

#include <gtest/gtest.h>

#include <vector>

namespace sp::supervisor {
namespace {

TEST(ReachedRanges, join_where_they_touch) {
  ReachedRanges ranges;
  EXPECT_TRUE(ranges.empty());
  ranges.add(0x20, 0x30);
  ranges.add(0x40, 0x48);
  ranges.add(0x30, 0x40);
  for (std::uint64_t address = 0x20; address < 0x48; ++address) {
    EXPECT_TRUE(ranges.contains(address)) << address;
  }
  EXPECT_FALSE(ranges.contains(0x1F));
  EXPECT_FALSE(ranges.contains(0x48));
}

TEST(ReachedRanges, tell_whether_a_function_has_any) {
  ReachedRanges ranges;
  ranges.add(0x100, 0x110);
  EXPECT_TRUE(ranges.has_any_in(0x0, 0x101));
  EXPECT_TRUE(ranges.has_any_in(0x10F, 0x200));
  EXPECT_FALSE(ranges.has_any_in(0x0, 0x100));
  EXPECT_FALSE(ranges.has_any_in(0x110, 0x200));
}

/// An analysis that knows of one file what an earlier run has reached.
class Known final : public CodeAnalysis {
 public:
  [[nodiscard]] std::vector<core::ReachedRange> known_reached(const File& file) override {
    ++asked;
    return file.path == "/bin/known" ? std::vector<core::ReachedRange>{{0x10, 0x18}}
                                     : std::vector<core::ReachedRange>{};
  }
  [[nodiscard]] bool wants(const File& /*file*/) override { return true; }
  [[nodiscard]] bool wants_libraries() override { return false; }
  [[nodiscard]] core::InstrumentationCandidates plan(const File& /*file*/) override { return {}; }
  [[nodiscard]] core::ControlFlowGraph map(core::AddressRange /*bounds*/, std::uint64_t /*bias*/,
                                           std::span<const core::Address> /*leaders*/,
                                           const Read& /*read*/,
                                           const core::TableHints* /*hints*/) override {
    return {};
  }
  [[nodiscard]] const core::CodeReferences* references(const File& /*file*/) override {
    return nullptr;
  }
  [[nodiscard]] bool jumps_through_pointers(const core::ControlFlowGraph& /*graph*/,
                                            core::AddressRange /*bounds*/,
                                            std::span<const std::byte> /*code*/) override {
    return false;
  }
  [[nodiscard]] tl::expected<core::FunctionCopy, core::CopyRefusal> copy(
      const core::FunctionToCopy& /*function*/, const core::CopyPlace& /*place*/) override {
    return tl::unexpected(core::CopyRefusal::open_function);
  }
  [[nodiscard]] std::optional<std::uint64_t> symbol(const File& /*file*/,
                                                    std::string_view /*name*/) override {
    return std::nullopt;
  }

  int asked = 0;
};

TEST(RunCoverage, shares_what_is_reached_between_processes) {
  Known analysis;
  RunCoverage run(core::Coverage::block);
  CoveredFile& known = run.file({.path = "/bin/known", .root = "", .image = nullptr}, analysis);
  EXPECT_TRUE(known.reached.contains(0x10));
  known.reached.add(0x30, 0x38);
  EXPECT_TRUE(run.file({.path = "/bin/known", .root = "", .image = nullptr}, analysis)
                  .reached.contains(0x30));
  EXPECT_EQ(analysis.asked, 1);
  EXPECT_TRUE(
      run.file({.path = "/bin/other", .root = "", .image = nullptr}, analysis).reached.empty());
}

}  // namespace
}  // namespace sp::supervisor
