#include "supervisor/instruments/probes/places_in_code.h"

#include <gtest/gtest.h>

#include "arch/native.h"
#include "unit/arch/bytes.h"

namespace sp::supervisor {
namespace {

using core::Address;
using Offsets = std::vector<std::uint64_t>;

constexpr Address kBegin{0x401000};

class PlacesInCode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arch::Native::kName != "x86_64") {
      GTEST_SKIP() << "decodes x86-64 code with the decoder of this CPU";
    }
  }

  /// Of the offsets, those that are left where the first instructions of the code are known.
  static Offsets left_of(const char* hex, const std::vector<std::uint8_t>& known_lengths,
                         const Offsets& offsets) {
    core::ControlFlowGraph known;
    known.blocks.emplace_back();
    known.blocks.back().start = kBegin;
    known.blocks.back().lengths = known_lengths;
    std::vector<Address> places;
    for (const std::uint64_t offset : offsets) {
      places.push_back(kBegin + offset);
    }
    drop_places_within_instructions(kBegin, arch::bytes_of(hex), known, places);
    Offsets left;
    for (const Address place : places) {
      left.push_back(place - kBegin);
    }
    return left;
  }
};

TEST_F(PlacesInCode, are_not_in_the_middle_of_a_known_instruction) {
  // 0 call; 5 imul $0x90909090,rax,rax; 12 ret
  EXPECT_EQ(left_of("e800000000 4869c090909090 c3", {5, 7, 1}, {0, 2, 5, 8, 12}),
            (Offsets{0, 5, 12}));
}

TEST_F(PlacesInCode, are_not_in_the_middle_of_what_stands_behind_a_call) {
  EXPECT_EQ(left_of("e800000000 4869c090909090 c3", {5}, {5, 8, 12}), (Offsets{5, 12}));
}

TEST_F(PlacesInCode, may_be_anywhere_behind_bytes_that_are_no_code) {
  // 0 call; 5 no instruction; 6 nop
  EXPECT_EQ(left_of("e800000000 06 90", {5}, {3, 6}), (Offsets{6}));
}

TEST_F(PlacesInCode, may_be_anywhere_where_known_code_contradicts_the_sweep) {
  // 0 jmp 3; 2 mov $0x90909090,eax, of which 3 is known
  core::ControlFlowGraph known;
  known.blocks.resize(2);
  known.blocks[0].start = kBegin;
  known.blocks[0].lengths = {2};
  known.blocks[1].start = kBegin + 3;
  known.blocks[1].lengths = {1, 1};
  std::vector<Address> places = {kBegin + 5};
  drop_places_within_instructions(kBegin, arch::bytes_of("eb01 b890909090"), known, places);
  EXPECT_EQ(places, std::vector<Address>{kBegin + 5});
}

}  // namespace
}  // namespace sp::supervisor
