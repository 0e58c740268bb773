// ProbedCode in the test's own memory: inserts breakpoints in a mapped file's code, which is never
// executed, and removes them.
#include "supervisor/instruments/probes/probed_code.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/clock.h"
#include "supervisor/instruments/probes/probed_modules.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

constexpr std::size_t kPage = 4096;

/// Every block is two bytes long: nop; ret.
constexpr std::size_t kBlock = 2;
constexpr std::size_t kFunction = 64;

class FakeAnalysis final : public CodeAnalysis {
 public:
  bool wants(const File& /*file*/) override { return true; }
  bool wants_libraries() override { return false; }
  core::InstrumentationCandidates plan(const File& /*file*/) override { return {}; }
  core::ControlFlowGraph map(core::AddressRange bounds, std::uint64_t /*bias*/,
                             std::span<const Address> leaders, const Read& read,
                             const core::TableHints* /*hints*/) override {
    core::ControlFlowGraph map;
    for (const Address leader : leaders) {
      std::array<std::byte, kBlock> code{};
      if (bounds.contains(leader) && read(leader, code) == code.size()) {
        const auto last = Native::decode(std::span(code).subspan(1), leader + 1);
        map.blocks.push_back({leader, {1, 1}, *last, false});
      }
    }
    map.unresolved = unresolved;
    return map;
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
  std::optional<std::uint64_t> symbol(const File& /*file*/, std::string_view /*name*/) override {
    return std::nullopt;
  }
  std::vector<Address> unresolved;

 private:
  core::CodeReferences references_;
};

class ProbedCodeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (Native::kName != "x86_64") {
      GTEST_SKIP() << "this test's code is for x86_64";
    }
    std::string path = ::testing::TempDir() + "probed_code_XXXXXX";
    const int file = ::mkstemp(path.data());
    ::unlink(path.c_str());
    for (std::size_t i = 0; i < kPage; ++i) {
      original_.push_back(i % kBlock == 0 ? std::byte{0x90} : std::byte{0xC3});
    }
    ASSERT_EQ(::write(file, original_.data(), kPage), static_cast<ssize_t>(kPage));
    void* const at = ::mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
    ASSERT_NE(at, MAP_FAILED);
    ::close(file);
    begin_ = Address{reinterpret_cast<std::uint64_t>(at)};
    auto guardian = Guardian::start();
    ASSERT_TRUE(guardian);
    guardian_.emplace(std::move(*guardian));
    code_.emplace(core::ProcessId{::getpid(), 1}, ::getpid(), analysis_, *guardian_);
    const auto text = read_proc("/proc/self/maps");
    ASSERT_TRUE(text);
    code_->set_maps(core::parse_maps(*text));
  }

  void TearDown() override {
    code_.reset();
    if (begin_ != Address{}) {
      ::munmap(reinterpret_cast<void*>(begin_.value()), kPage);  // NOLINT
    }
  }

  core::AddressRange mapped() const { return {begin_, begin_ + kPage}; }

  /// Plans that many functions of 64 bytes.
  void instrument(std::size_t functions) {
    core::InstrumentationCandidates plan;
    plan.is_whole = false;
    for (std::size_t i = 0; i < functions; ++i) {
      plan.functions.push_back({i * kFunction, (i + 1) * kFunction, {i * kFunction + 8}});
    }
    instrument_module(*code_, plan, begin_.value(), mapped(), {});
  }

  /// Offsets of the bytes that differ from the file's.
  std::vector<std::size_t> changed() const {
    std::vector<std::byte> now(kPage);
    EXPECT_EQ(code_->memory().read(begin_, now), kPage);
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < kPage; ++i) {
      if (now[i] != original_[i]) {
        EXPECT_EQ(now[i], Native::kBreakpoint[0]);
        offsets.push_back(i);
      }
    }
    return offsets;
  }

  void hit(std::size_t offset, int times) {
    BreakpointSite* const site = code_->inserted_at(begin_ + offset);
    ASSERT_NE(site, nullptr) << offset;
    for (int i = 0; i < times; ++i) {
      code_->count(code_->block_of(*site), core::Clock::now());
    }
  }

  void hit_uncounted(std::size_t offset, int times) {
    BreakpointSite* const site = code_->inserted_at(begin_ + offset);
    ASSERT_NE(site, nullptr) << offset;
    for (int i = 0; i < times; ++i) {
      code_->note_uncounted_execution(code_->block_of(*site), core::Clock::now());
    }
  }

  void enter(Address at) { code_->instrument_function(std::span(&at, 1), std::nullopt); }

  using Offsets = std::vector<std::size_t>;
  FakeAnalysis analysis_;
  std::optional<Guardian> guardian_;
  std::optional<ProbedCode> code_;
  std::vector<std::byte> original_;
  Address begin_;
};

TEST_F(ProbedCodeTest, has_a_breakpoint_on_each_function_until_it_is_mapped) {
  instrument(3);
  EXPECT_EQ(changed(), Offsets({0, 64, 128}));
  enter(begin_ + 64);
  // On the returns that end the two blocks: at the entry and at the landing pad.
  EXPECT_EQ(changed(), Offsets({0, 65, 73, 128}));
  EXPECT_EQ(code_->functions_instrumented(), 1U);
  EXPECT_EQ(code_->probes(), 2U);
}

TEST_F(ProbedCodeTest, finds_more_blocks_as_control_comes_to_them) {
  instrument(1);
  enter(begin_);
  EXPECT_FALSE(code_->needs_instrumentation(begin_));
  EXPECT_TRUE(code_->needs_instrumentation(begin_ + 20));
  EXPECT_FALSE(code_->needs_instrumentation(begin_ + kFunction));
  enter(begin_ + 20);
  EXPECT_EQ(changed(), Offsets({1, 9, 21}));
}

TEST_F(ProbedCodeTest, takes_away_what_was_hit_most) {
  instrument(1);
  enter(begin_);
  hit(1, 90);
  hit(9, 10);
  EXPECT_EQ(code_->remove_hottest(0.1, core::Clock::now()), 1U);
  EXPECT_EQ(changed(), Offsets({9}));
  const core::CodeProbed probed = code_->take();
  ASSERT_EQ(probed.blocks.size(), 2U);
  EXPECT_EQ(probed.blocks[0].hits, 90U);
  EXPECT_TRUE(probed.blocks[0].until);
  EXPECT_EQ(probed.blocks[1].hits, 10U);
  EXPECT_FALSE(probed.blocks[1].until);
}

TEST_F(ProbedCodeTest, takes_away_what_was_hit_most_by_threads_that_are_not_counted) {
  instrument(2);
  enter(begin_);
  hit_uncounted(1, 90);
  hit(9, 10);
  EXPECT_EQ(code_->remove_hottest(0.1, core::Clock::now()), 1U);
  EXPECT_EQ(changed(), Offsets({9, 64}));
  hit_uncounted(9, 91);
  EXPECT_EQ(code_->remove_above(0.1, 100, core::Clock::now()), 1U);
  EXPECT_EQ(changed(), Offsets({64}));
  const core::CodeProbed probed = code_->take();
  ASSERT_EQ(probed.blocks.size(), 2U);
  EXPECT_EQ(probed.blocks[0].hits, 0U);
  EXPECT_EQ(probed.blocks[1].hits, 10U);
}

TEST_F(ProbedCodeTest, tells_hits_once) {
  instrument(1);
  enter(begin_);
  hit(1, 3);
  (void)code_->take();
  EXPECT_TRUE(code_->take().blocks.empty());
  hit(1, 2);
  const core::CodeProbed probed = code_->take();
  ASSERT_EQ(probed.blocks.size(), 1U);
  EXPECT_EQ(probed.blocks[0].hits, 2U);
}

TEST_F(ProbedCodeTest, takes_away_a_whole_function_with_a_jump_that_may_go_anywhere) {
  instrument(1);
  analysis_.unresolved = {begin_ + 1};
  enter(begin_);
  hit(1, 90);
  hit(9, 10);
  (void)code_->remove_hottest(0.1, core::Clock::now());
  EXPECT_EQ(changed(), Offsets());
}

TEST_F(ProbedCodeTest, takes_away_one_with_too_large_a_share) {
  instrument(2);
  enter(begin_);
  hit(1, 101);
  hit(9, 9);
  EXPECT_EQ(code_->remove_above(0.1, 1000, core::Clock::now()), 0U);
  EXPECT_EQ(code_->remove_above(0.1, 100, core::Clock::now()), 1U);
  EXPECT_EQ(changed(), Offsets({9, 64}));
}

TEST_F(ProbedCodeTest, lets_go_of_functions_that_were_not_called) {
  instrument(3);
  enter(begin_);
  code_->disarm_entries();
  EXPECT_EQ(changed(), Offsets({1, 9}));
  code_->arm_entry(begin_ + 130, core::Clock::now());
  EXPECT_EQ(changed(), Offsets({1, 9, 128}));
}

TEST_F(ProbedCodeTest, puts_every_byte_back) {
  instrument(64);
  enter(begin_ + 640);
  EXPECT_EQ(changed().size(), 65U);
  code_->restore_all();
  EXPECT_EQ(changed(), Offsets());
  enter(begin_ + 64);
  EXPECT_EQ(changed(), Offsets());
}

TEST_F(ProbedCodeTest, forgets_a_file_that_is_not_mapped_any_more) {
  instrument(2);
  const auto text = read_proc("/proc/self/maps");
  std::vector<core::Mapping> maps = core::parse_maps(*text);
  EXPECT_TRUE(code_->unmapped_modules(maps).empty());
  std::erase_if(maps, [this](const core::Mapping& one) { return one.range == mapped(); });
  EXPECT_EQ(code_->unmapped_modules(maps), std::vector<core::AddressRange>({mapped()}));
  code_->restore_all();
  code_->forget_module(mapped());
  EXPECT_FALSE(code_->instruments_anything());
  EXPECT_EQ(code_->inserted_at(begin_), nullptr);
}

}  // namespace
}  // namespace sp::supervisor
