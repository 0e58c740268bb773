#include "arch/aarch64/sleds.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "arch/x86_64/sleds.h"
#include "unit/arch/bytes.h"

namespace sp::arch {
namespace {

using core::Address;
using core::SledKind;
using enum SledState;

constexpr std::array kEntryKinds = {SledKind::entry, SledKind::entry_with_argument,
                                    SledKind::tail_exit};
constexpr std::array kFunctionKinds = {SledKind::entry, SledKind::entry_with_argument,
                                       SledKind::tail_exit, SledKind::exit};
constexpr std::uint8_t kVersion = 2;

// As compilers and compiler-rt write them.
constexpr std::string_view kEntry = "eb 09 66 0f 1f 84 00 00 02 00 00";
constexpr std::string_view kPatchedEntry = "41 ba 07 00 00 00 e8 10 20 30 f0";
constexpr std::string_view kExit = "c3 2e 66 0f 1f 84 00 00 02 00 00";
constexpr std::string_view kPatchedExit = "41 ba 07 00 00 00 e9 10 20 30 f0";
// jmp +15; nopl 8(%rax); push %rsi; mov %rax, %rsi; call; pop %rsi; nop
constexpr std::string_view kCustom = "eb 0f 0f 1f 40 08 56 48 89 c6 e8 ef fe ff ff 5e 90";
// jmp +20; three pushes; three movs; call; three pops
constexpr std::string_view kTyped =
    "eb 14 57 56 52 48 89 cf 48 89 fe 48 89 c2 e8 e5 fe ff ff 5a 5e 5f";

SledState x86_state(std::vector<std::byte> bytes, SledKind kind, std::uint8_t version = kVersion) {
  return x86_64::sled_state(bytes, kind, version);
}

/// With other bytes at the beginning.
std::vector<std::byte> beginning_with(std::string_view head, std::string_view hex) {
  auto bytes = bytes_of(hex);
  const auto first = bytes_of(head);
  std::copy(first.begin(), first.end(), bytes.begin());
  return bytes;
}

TEST(SledsX86, of_entries_are_known_as_compiled_and_as_patched) {
  for (const SledKind kind : kEntryKinds) {
    EXPECT_EQ(x86_64::sled_shape(kind, kVersion), (SledShape{11, 0}));
    EXPECT_EQ(x86_state(bytes_of(kEntry), kind), unpatched);
    EXPECT_EQ(x86_state(bytes_of(kPatchedEntry), kind), patched);
    EXPECT_EQ(x86_state(bytes_of(kPatchedExit), kind), unknown);
    EXPECT_EQ(x86_state(bytes_of(kExit), kind), unknown);
  }
}

TEST(SledsX86, of_exits_are_known_as_compiled_and_as_patched) {
  EXPECT_EQ(x86_64::sled_shape(SledKind::exit, kVersion), (SledShape{11, 0}));
  EXPECT_EQ(x86_state(bytes_of(kExit), SledKind::exit), unpatched);
  EXPECT_EQ(x86_state(bytes_of(kPatchedExit), SledKind::exit), patched);
  EXPECT_EQ(x86_state(bytes_of(kPatchedEntry), SledKind::exit), unknown);
  EXPECT_EQ(x86_state(bytes_of(kEntry), SledKind::exit), unknown);
}

// The runtime puts two bytes of an entry back, and one of an exit.
TEST(SledsX86, that_are_switched_off_again_are_unpatched) {
  EXPECT_EQ(x86_state(beginning_with("eb 09", kPatchedEntry), SledKind::entry), unpatched);
  EXPECT_EQ(x86_state(beginning_with("c3", kPatchedExit), SledKind::exit), unpatched);
}

TEST(SledsX86, with_our_breakpoint_are_ours) {
  EXPECT_EQ(x86_state(beginning_with("cc", kEntry), SledKind::entry), breakpoint);
  EXPECT_EQ(x86_state(beginning_with("cc", kPatchedEntry), SledKind::entry), breakpoint);
  EXPECT_EQ(x86_state(beginning_with("cc 09", kPatchedEntry), SledKind::entry), breakpoint);
  EXPECT_EQ(x86_state(beginning_with("cc", kExit), SledKind::exit), breakpoint);
  EXPECT_EQ(x86_state(beginning_with("cc", kPatchedExit), SledKind::exit), breakpoint);
  EXPECT_EQ(x86_state(beginning_with("cc 90", kEntry), SledKind::entry), unknown);
  EXPECT_EQ(x86_state(beginning_with("41 ba 07 00 00 00 cc", kPatchedExit), SledKind::exit),
            breakpoint);
  EXPECT_EQ(x86_state(beginning_with("c3 2e 66 0f 1f 84 cc", kExit), SledKind::exit), unknown);
}

TEST(SledsX86, of_events_are_known_by_their_ends_and_their_call) {
  EXPECT_EQ(x86_64::sled_shape(SledKind::custom_event, kVersion), (SledShape{17, 10}));
  EXPECT_EQ(x86_64::sled_shape(SledKind::typed_event, kVersion), (SledShape{22, 14}));
  EXPECT_EQ(x86_state(bytes_of(kCustom), SledKind::custom_event), unpatched);
  EXPECT_EQ(x86_state(bytes_of(kTyped), SledKind::typed_event), unpatched);
  EXPECT_EQ(x86_state(beginning_with("66 90", kCustom), SledKind::custom_event), patched);
  EXPECT_EQ(x86_state(beginning_with("66 90", kTyped), SledKind::typed_event), patched);
  EXPECT_EQ(x86_state(bytes_of(kTyped), SledKind::custom_event), unknown);
  EXPECT_EQ(x86_state(beginning_with("eb 0e", kCustom), SledKind::custom_event), unknown);
}

TEST(SledsX86, of_events_are_ours_by_a_breakpoint_on_the_jump_or_on_the_call) {
  auto custom = beginning_with("66 90", kCustom);
  custom[10] = std::byte{0xCC};
  EXPECT_EQ(x86_state(custom, SledKind::custom_event), breakpoint);
  auto typed = beginning_with("66 90", kTyped);
  typed[14] = std::byte{0xCC};
  EXPECT_EQ(x86_state(typed, SledKind::typed_event), breakpoint);
  typed[0] = std::byte{0xEB};  // not switched on, and no call
  typed[1] = std::byte{0x14};
  EXPECT_EQ(x86_state(typed, SledKind::typed_event), unknown);
  EXPECT_EQ(x86_state(beginning_with("cc", kCustom), SledKind::custom_event), breakpoint);
}

TEST(SledsX86, of_custom_events_were_longer_in_version_0) {
  EXPECT_EQ(x86_64::sled_shape(SledKind::custom_event, 0), (SledShape{22, 0}));
  EXPECT_EQ(x86_state(bytes_of(kTyped), SledKind::custom_event, 0), unpatched);
  EXPECT_EQ(x86_state(beginning_with("66 90", kTyped), SledKind::custom_event, 0), patched);
}

TEST(SledsX86, are_unknown_with_any_byte_changed_or_missing) {
  for (const std::string_view good : {kEntry, kExit}) {
    const SledKind kind = good == kExit ? SledKind::exit : SledKind::entry;
    for (std::size_t i = 0; i < 11; ++i) {
      auto bytes = bytes_of(good);
      bytes[i] ^= std::byte{0x40};
      EXPECT_EQ(x86_state(bytes, kind), unknown) << i;
      bytes.resize(i);
      EXPECT_EQ(x86_state(bytes, kind), unknown) << i;
    }
  }
}

std::vector<std::byte> words(const std::vector<std::uint32_t>& all) {
  std::vector<std::byte> bytes;
  for (const std::uint32_t word : all) {
    const auto some = bytes_of_word(word);
    bytes.insert(bytes.end(), some.begin(), some.end());
  }
  return bytes;
}

using Words = std::vector<std::uint32_t>;
constexpr std::uint32_t kNop = 0xD503201F;
constexpr std::uint32_t kBrk = 0xD4200000;
const Words kCompiled = {0x14000008, kNop, kNop, kNop, kNop, kNop, kNop, kNop};
const Words kPatched = {0xA9BF7BE0, 0x18000060, 0x58000070, 0xD63F0200,
                        7,          0x12345678, 0x0000FFFF, 0xA8C17BE0};
// b +24; stp; mov; mov; bl; ldp
const Words kArmCustom = {0x14000006, 0xA9BF07E0, 0xAA0003E0, 0xAA0803E1, 0x97FFFF8D, 0xA8C107E0};
// b +36; stp; str; three movs; bl; ldr; ldp
const Words kArmTyped = {0x14000009, 0xA9BE07E0, 0xF9000BE2, 0xAA0903E0, 0xAA0003E1,
                         0xAA0803E2, 0x97FFFF85, 0xF9400BE2, 0xA8C207E0};

SledState arm_state(Words all, SledKind kind) {
  return aarch64::sled_state(words(all), kind, kVersion);
}
Words with_word(Words all, std::size_t number, std::uint32_t word) {
  all[number] = word;
  return all;
}

TEST(SledsArm, of_functions_are_known_as_compiled_as_patched_and_as_switched_off) {
  for (const SledKind kind : kFunctionKinds) {
    EXPECT_EQ(aarch64::sled_shape(kind, kVersion), (SledShape{32, 0}));
    EXPECT_EQ(arm_state(kCompiled, kind), unpatched);
    EXPECT_EQ(arm_state(kPatched, kind), patched);
    EXPECT_EQ(arm_state(with_word(kPatched, 0, 0x14000008), kind), unpatched);
    EXPECT_EQ(arm_state(with_word(kCompiled, 0, kBrk), kind), breakpoint);
    EXPECT_EQ(arm_state(with_word(kPatched, 0, kBrk), kind), breakpoint);
    EXPECT_EQ(arm_state(with_word(kPatched, 7, kNop), kind), unknown);
    EXPECT_EQ(arm_state(with_word(kCompiled, 0, kNop), kind), unknown);
  }
}

TEST(SledsArm, of_events_are_known_by_their_first_word_and_their_call) {
  EXPECT_EQ(aarch64::sled_shape(SledKind::custom_event, kVersion), (SledShape{24, 16}));
  EXPECT_EQ(aarch64::sled_shape(SledKind::typed_event, kVersion), (SledShape{36, 24}));
  EXPECT_EQ(arm_state(kArmCustom, SledKind::custom_event), unpatched);
  EXPECT_EQ(arm_state(kArmTyped, SledKind::typed_event), unpatched);
  EXPECT_EQ(arm_state(with_word(kArmCustom, 0, kNop), SledKind::custom_event), patched);
  EXPECT_EQ(arm_state(with_word(kArmTyped, 0, kNop), SledKind::typed_event), patched);
  EXPECT_EQ(arm_state(with_word(kArmTyped, 0, kBrk), SledKind::typed_event), breakpoint);
  EXPECT_EQ(arm_state(kArmTyped, SledKind::custom_event), unknown);
  Words on = with_word(kArmCustom, 0, kNop);
  EXPECT_EQ(arm_state(with_word(on, 4, kBrk), SledKind::custom_event), breakpoint);
  EXPECT_EQ(arm_state(with_word(on, 4, kNop), SledKind::custom_event), unknown);
}

TEST(SledsArm, that_are_cut_off_are_unknown) {
  auto bytes = words(kCompiled);
  bytes.pop_back();
  EXPECT_EQ(aarch64::sled_state(bytes, SledKind::entry, kVersion), unknown);
  EXPECT_EQ(aarch64::sled_state({}, SledKind::typed_event, kVersion), unknown);
}

std::size_t x86_nops(std::string_view hex) { return x86_64::nop_bytes(bytes_of(hex)); }

TEST(PatchableNops, are_counted_in_bytes_whatever_their_length_is) {
  EXPECT_EQ(x86_nops("90 90 90 55"), 3U);           // gcc
  EXPECT_EQ(x86_nops("0f 1f 44 00 08 89 f8"), 5U);  // clang
  EXPECT_EQ(x86_nops("66 90 0f 1f 00 c3"), 5U);     // clang, 2 before the label
  EXPECT_EQ(x86_nops("2e 66 0f 1f 84 00 00 02 00 00 c3"), 10U);
  EXPECT_EQ(x86_nops("90 90"), 2U);
  EXPECT_EQ(x86_nops("f3 0f 1e fa 90"), 0U);  // endbr64
  EXPECT_EQ(x86_nops("f3 90"), 0U);           // pause
  EXPECT_EQ(x86_nops("0f 1f 44 00"), 0U);     // cut off
  EXPECT_EQ(x86_nops("66"), 0U);
  EXPECT_EQ(x86_nops(""), 0U);
  EXPECT_EQ(aarch64::nop_bytes(words({kNop, kNop, 0xD503245F, kNop})), 8U);  // bti c
  EXPECT_EQ(aarch64::nop_bytes(words({0xD65F03C0})), 0U);
}

HookCall x86_call(std::string_view hex, std::uint64_t address) {
  return x86_64::hook_call(bytes_of(hex), Address{address});
}

TEST(HookCalls, are_told_apart_with_where_they_lead) {
  using Kind = HookCall::Kind;
  EXPECT_EQ(x86_call("e8 e7 ff ff ff", 0x400254), (HookCall{Kind::direct, 5, Address{0x400240}}));
  EXPECT_EQ(x86_call("67 e8 e7 ff ff ff", 0x400253),
            (HookCall{Kind::direct, 6, Address{0x400240}}));
  EXPECT_EQ(x86_call("ff 15 66 11 00 00", 0x234),
            (HookCall{Kind::through_memory, 6, Address{0x13A0}}));
  EXPECT_EQ(x86_call("0f 1f 44 00 00", 0x234), (HookCall{Kind::nops, 5, Address{}}));
  EXPECT_EQ(x86_call("55 48 89 e5 90 90", 0x234), HookCall{});
  EXPECT_EQ(x86_call("e8 e7 ff ff", 0x234), HookCall{});
  EXPECT_EQ(x86_call("", 0x234), HookCall{});
  const auto gcc = words({0xAA1E03E0, 0x97FFFFF6});  // mov x0, x30; bl
  EXPECT_EQ(aarch64::hook_call(gcc, Address{0x2B4}), (HookCall{Kind::direct, 8, Address{0x290}}));
  const auto clang = words({0x97FFFFF8});
  EXPECT_EQ(aarch64::hook_call(clang, Address{0x290}), (HookCall{Kind::direct, 4, Address{0x270}}));
  EXPECT_EQ(aarch64::hook_call(words({0xAA1E03E0}), Address{0x290}), HookCall{});
}

}  // namespace
}  // namespace sp::arch
