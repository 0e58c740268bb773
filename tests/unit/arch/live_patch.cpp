#include "arch/aarch64/live_patch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "arch/aarch64/decoder.h"
#include "arch/aarch64/rescue_code.h"
#include "arch/x86_64/decoder.h"
#include "arch/x86_64/live_patch.h"
#include "arch/x86_64/rescue_code.h"

namespace sp::arch {
namespace {

using core::Address;

TEST(LivePatch, holds_threads_at_one_byte_or_by_a_jump_to_itself) {
  const Address at{0x4000};
  const auto trap = x86_64::decode(x86_64::LivePatch::kHold, at);
  ASSERT_TRUE(trap.has_value());
  EXPECT_EQ(trap->length, 1);
  EXPECT_EQ(trap->flow, core::Flow::stop);
  const auto wait = aarch64::decode(aarch64::LivePatch::kHold, at);
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->flow, core::Flow::jump);
  EXPECT_EQ(wait->target, at);
}

/// The guardian writes there.
TEST(LivePatch, finds_the_place_of_patience_in_the_injected_handler) {
  using Rescue = x86_64::RescueCode;
  EXPECT_EQ(std::memcmp(Rescue::kCode.data() + Rescue::kPatienceAt, Rescue::kImpatient.data(),
                        Rescue::kImpatient.size()),
            0);
  EXPECT_EQ(
      std::memcmp(aarch64::RescueCode::kCode.data() + aarch64::RescueCode::kPatienceAt,
                  aarch64::RescueCode::kImpatient.data(), aarch64::RescueCode::kImpatient.size()),
      0);
  // Not more than a byte changes: the kernel may write each by itself.
  EXPECT_EQ(Rescue::kImpatient[0], Rescue::kPatient[0]);
  EXPECT_EQ(static_cast<std::byte>(Rescue::kCode.at(Rescue::kDisarmedAt)), Rescue::kDisarmed[0]);
  const auto patient = x86_64::decode(Rescue::kPatient, Address{Rescue::kPatienceAt});
  ASSERT_TRUE(patient && patient->target);
  constexpr std::array<unsigned char, 2> kLoadRounds = {0x41, 0xB8};
  EXPECT_EQ(std::memcmp(Rescue::kCode.data() + patient->target->value(), kLoadRounds.data(),
                        kLoadRounds.size()),
            0);
}

}  // namespace
}  // namespace sp::arch
