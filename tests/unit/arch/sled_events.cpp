#include <gtest/gtest.h>

#include <span>
#include <string_view>

#include "arch/aarch64/sled_event.h"
#include "arch/aarch64/sleds.h"
#include "arch/x86_64/sled_event.h"
#include "arch/x86_64/sleds.h"
#include "unit/arch/bytes.h"

namespace sp::arch {
namespace {

using core::Address;
using core::SledKind;

constexpr std::uint8_t kVersion = 2;

/// Up to the call, with each register as a number of its own.
std::optional<SledEvent> x86_event(std::string_view hex, SledKind kind) {
  x86_64::Registers registers;
  registers.rax = 0xA;
  registers.rcx = 0xC;
  registers.rdx = 0xD;
  registers.rsi = 0x51;
  registers.rdi = 0xD1;
  registers.r9 = 0x9;
  registers.r14 = 0x14;
  const auto bytes = bytes_of(hex);
  return x86_64::sled_event(std::span(bytes).first(x86_64::sled_shape(kind, kVersion).call), kind,
                            registers);
}

TEST(SledEventsX86, are_what_the_moves_in_front_of_the_call_say) {
  // clang 16 and 19
  EXPECT_EQ(x86_event("eb 0f 57 56 48 89 c7 48 89 ce e8 09 fe ff ff 5e 5f", SledKind::custom_event),
            (SledEvent{0, Address{0xA}, 0xC}));
  EXPECT_EQ(x86_event("eb 14 57 56 52 48 89 d7 48 89 c6 48 89 ca e8 cf fd ff ff 5a 5e 5f",
                      SledKind::typed_event),
            (SledEvent{0xD, Address{0xA}, 0xC}));
  // clang 14: what is in place already is not moved.
  EXPECT_EQ(x86_event("eb 0f 0f 1f 40 08 56 48 89 c6 e8 ef fe ff ff 5e 90", SledKind::custom_event),
            (SledEvent{0, Address{0xD1}, 0xA}));
  // r9 and r14
  EXPECT_EQ(x86_event("eb 0f 57 56 4c 89 cf 4c 89 f6 e8 09 fe ff ff 5e 5f", SledKind::custom_event),
            (SledEvent{0, Address{0x9}, 0x14}));
}

TEST(SledEventsX86, are_as_meant_where_the_moves_lose_a_register) {
  // rdi is overwritten before it is moved to rsi.
  EXPECT_EQ(x86_event("eb 14 57 56 52 48 89 cf 48 89 fe 48 89 c2 e8 e5 fe ff ff 5a 5e 5f",
                      SledKind::typed_event),
            (SledEvent{0xC, Address{0xD1}, 0xA}));
}

TEST(SledEventsX86, are_not_guessed_from_other_code) {
  EXPECT_FALSE(
      x86_event("eb 0f 57 56 48 8b 07 48 89 ce e8 09 fe ff ff 5e 5f", SledKind::custom_event));
}

TEST(SledEventsX86, are_in_the_registers_at_their_call) {
  x86_64::Registers registers;
  registers.rdi = 1;
  registers.rsi = 2;
  registers.rdx = 3;
  EXPECT_EQ(x86_64::sled_event({}, SledKind::custom_event, registers),
            (SledEvent{0, Address{1}, 2}));
  EXPECT_EQ(x86_64::sled_event({}, SledKind::typed_event, registers),
            (SledEvent{1, Address{2}, 3}));
}

std::optional<SledEvent> aarch64_event(std::vector<std::uint32_t> code, SledKind kind) {
  aarch64::Registers registers;
  for (unsigned i = 0; i < registers.x.size(); ++i) {
    registers.x.at(i) = 0x100 + i;
  }
  std::vector<std::byte> bytes;
  for (const std::uint32_t word : code) {
    const auto one = std::as_bytes(std::span(&word, 1));
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return aarch64::sled_event(std::span(bytes).first(aarch64::sled_shape(kind, kVersion).call), kind,
                             registers);
}

TEST(SledEventsAarch64, are_as_meant) {
  // b; stp x0, x1; mov x0, x0; mov x1, x8; bl; ldp
  EXPECT_EQ(aarch64_event({0x14000006, 0xA9BF07E0, 0xAA0003E0, 0xAA0803E1, 0x97FFFF89, 0xA8C107E0},
                          SledKind::custom_event),
            (SledEvent{0, Address{0x100}, 0x108}));
  // mov x0, x9; mov x1, x0; mov x2, x8
  EXPECT_EQ(aarch64_event({0x14000009, 0xA9BE07E0, 0xF9000BE2, 0xAA0903E0, 0xAA0003E1, 0xAA0803E2,
                           0x97FFFF6C, 0xF9400BE2, 0xA8C207E0},
                          SledKind::typed_event),
            (SledEvent{0x109, Address{0x100}, 0x108}));
  // ldr x0, [x1] in between
  EXPECT_FALSE(
      aarch64_event({0x14000006, 0xA9BF07E0, 0xF9400020, 0xAA0803E1, 0x97FFFF89, 0xA8C107E0},
                    SledKind::custom_event));
}

}  // namespace
}  // namespace sp::arch
