#include "arch/aarch64/live_patch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "arch/aarch64/decoder.h"
#include "arch/aarch64/rescue_code.h"
#include "arch/x86_64/decoder.h"
#include "arch/x86_64/live_patch.h"
#include "arch/x86_64/rescue_code.h"

namespace sp::arch {
namespace {

using core::Address;

template <typename Rescue>
bool is_impatient() {
  return std::memcmp(Rescue::kCode.data() + Rescue::kRescueAt, Rescue::kImpatient.data(),
                     Rescue::kImpatient.size()) == 0;
}

TEST(LivePatch, makes_threads_wait_by_a_jump_to_itself) {
  const Address at{0x4000};
  for (const auto& wait : {x86_64::decode(x86_64::LivePatch::kWait, at),
                           aarch64::decode(aarch64::LivePatch::kWait, at)}) {
    ASSERT_TRUE(wait.has_value());
    EXPECT_EQ(wait->flow, core::Flow::jump);
    EXPECT_EQ(wait->target, at);
  }
}

TEST(LivePatch, stores_within_a_cache_line) {
  using Patch = x86_64::LivePatch;
  constexpr std::uint64_t kSize = Patch::kWait.size();
  for (std::uint64_t at = 4096; at < 4096 + 2 * Patch::kLine; ++at) {
    const bool is_in_line = at / Patch::kLine == (at + kSize - 1) / Patch::kLine;
    ASSERT_EQ(Patch::is_seen_whole(Address{at}), is_in_line) << at;
    ASSERT_EQ(Patch::is_in_word(Address{at}), at / 8 == (at + kSize - 1) / 8) << at;
    if (is_in_line && !Patch::is_in_word(Address{at})) {
      const core::AddressRange range = Patch::store_range(Address{at});
      EXPECT_TRUE(range.contains(Address{at}) && range.contains(Address{at + kSize - 1}));
      EXPECT_EQ(range.begin.value() / Patch::kLine, (range.end.value() - 1) / Patch::kLine);
      EXPECT_GE(range.size(), 4U);
    }
  }
  for (std::uint64_t at = 4096; at < 4096 + 64; at += 4) {
    EXPECT_TRUE(aarch64::LivePatch::is_seen_whole(Address{at}));
  }
}

/// The guardian writes there.
TEST(LivePatch, finds_the_jump_to_the_rescue_in_the_injected_handler) {
  EXPECT_TRUE(is_impatient<x86_64::RescueCode>());
  EXPECT_TRUE(is_impatient<aarch64::RescueCode>());
  const auto patient =
      x86_64::decode(x86_64::RescueCode::kPatient, Address{x86_64::RescueCode::kRescueAt});
  ASSERT_TRUE(patient && patient->target);
  constexpr unsigned char kRet = 0xC3;
  EXPECT_EQ(x86_64::RescueCode::kCode.at(patient->target->value()), kRet);
}

}  // namespace
}  // namespace sp::arch
