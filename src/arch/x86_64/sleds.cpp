#include "arch/x86_64/sleds.h"

#include <algorithm>
#include <array>
#include <optional>

#include "arch/x86_64/breakpoint.h"
#include "arch/x86_64/decoder.h"
#include "core/bytes.h"

namespace sp::arch::x86_64 {
namespace {

using core::SledKind;

constexpr int kAny = -1;
constexpr std::size_t kSledSize = 11;
/// A byte a number, kAny for every one.
using SledPattern = std::array<int, kSledSize>;

// jmp +9; nopw 0x200(%rax,%rax,1)
constexpr SledPattern kEntry = {0xEB, 0x09, 0x66, 0x0F, 0x1F, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00};
// mov $ID, %r10d; call TRAMPOLINE
constexpr SledPattern kPatchedEntry = {0x41, 0xBA, kAny, kAny, kAny, kAny,
                                       0xE8, kAny, kAny, kAny, kAny};
// What is left of it when it is switched off: jmp +9 over the rest.
constexpr SledPattern kEntryAgain = {0xEB, 0x09, kAny, kAny, kAny, kAny,
                                     0xE8, kAny, kAny, kAny, kAny};
// ret; cs nopw 0x200(%rax,%rax,1)
constexpr SledPattern kExit = {0xC3, 0x2E, 0x66, 0x0F, 0x1F, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00};
// mov $ID, %r10d; jmp TRAMPOLINE
constexpr SledPattern kPatchedExit = {0x41, 0xBA, kAny, kAny, kAny, kAny,
                                      0xE9, kAny, kAny, kAny, kAny};
// Switched off: ret, behind which the rest of the mov is left.
constexpr SledPattern kExitAgain = {0xC3, 0xBA, kAny, kAny, kAny, kAny,
                                    0xE9, kAny, kAny, kAny, kAny};

constexpr std::byte kCall{0xE8};

/// From the byte at `first` on.
bool has_sled_pattern(std::span<const std::byte> bytes, const SledPattern& pattern,
                      std::size_t first) {
  for (std::size_t i = first; i < kSledSize; ++i) {
    if (pattern[i] != kAny && std::to_integer<int>(bytes[i]) != pattern[i]) {
      return false;
    }
  }
  return true;
}

SledState state_of_function_sled(std::span<const std::byte> bytes, bool is_exit) {
  const SledPattern& compiled = is_exit ? kExit : kEntry;
  const SledPattern& off = is_exit ? kExitAgain : kEntryAgain;
  const SledPattern& patched = is_exit ? kPatchedExit : kPatchedEntry;
  const bool has_breakpoint = bytes[0] == kBreakpoint[0];
  const std::size_t first = has_breakpoint ? 1 : 0;
  if (has_sled_pattern(bytes, compiled, first) || has_sled_pattern(bytes, off, first)) {
    return has_breakpoint ? SledState::breakpoint : SledState::unpatched;
  }
  if (has_sled_pattern(bytes, patched, first)) {
    return has_breakpoint ? SledState::breakpoint : SledState::patched;
  }
  // A return that the runtime has taken over is seen where it jumps to the trampoline.
  constexpr std::size_t kJump = 6;
  if (is_exit && bytes[kJump] == kBreakpoint[0]) {
    std::array<std::byte, kSledSize> without{};
    std::copy_n(bytes.begin(), kSledSize, without.begin());
    without[kJump] = static_cast<std::byte>(kPatchedExit[kJump]);
    return has_sled_pattern(without, kPatchedExit, 0) ? SledState::breakpoint : SledState::unknown;
  }
  return SledState::unknown;
}

/// The pair of bytes that an event's sled begins with: jmp over it, or, switched on, a NOP.
SledState state_of_event_sled(std::span<const std::byte> bytes, const SledShape& shape) {
  const auto skip = static_cast<std::byte>(shape.size - 2);
  const bool has_breakpoint = bytes[0] == kBreakpoint[0] && bytes[1] == skip;
  const bool is_off = bytes[0] == std::byte{0xEB} && bytes[1] == skip;
  const bool is_on = bytes[0] == std::byte{0x66} && bytes[1] == std::byte{0x90};
  if (!is_off && !is_on && !has_breakpoint) {
    return SledState::unknown;
  }
  const std::byte call = shape.call != 0 ? bytes[shape.call] : kCall;
  if (is_on && call == kBreakpoint[0]) {
    return SledState::breakpoint;
  }
  if (call != kCall) {
    return SledState::unknown;
  }
  return has_breakpoint ? SledState::breakpoint : is_on ? SledState::patched : SledState::unpatched;
}

/// The length of a NOP of 90 or 0F 1F with prefixes; nothing for other instructions.
std::optional<std::size_t> nop_length(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && (bytes[at] == std::byte{0x66} || bytes[at] == std::byte{0x2E})) {
    ++at;
  }
  const bool is_short = at < bytes.size() && bytes[at] == std::byte{0x90};
  const bool is_long = core::read_at<std::uint16_t>(bytes, at) == 0x1F0FU;
  const auto instruction = is_short || is_long ? decode(bytes, core::Address{}) : std::nullopt;
  return instruction ? std::optional<std::size_t>(instruction->length) : std::nullopt;
}

core::Address destination(core::Address behind, std::int32_t displacement) {
  return behind + static_cast<std::uint64_t>(std::int64_t{displacement});
}

}  // namespace

SledShape sled_shape(SledKind kind, std::uint8_t version) {
  switch (kind) {
    case SledKind::entry:
    case SledKind::exit:
    case SledKind::tail_exit:
    case SledKind::entry_with_argument:
      return {kSledSize, 0};
    case SledKind::custom_event:
      return version == 0 ? SledShape{2 + 0x14, 0} : SledShape{2 + 0x0F, 10};
    case SledKind::typed_event:
      return {2 + 0x14, 14};
  }
  return {};
}

SledState sled_state(std::span<const std::byte> bytes, SledKind kind, std::uint8_t version) {
  const SledShape shape = sled_shape(kind, version);
  if (bytes.size() < shape.size) {
    return SledState::unknown;
  }
  if (kind == SledKind::custom_event || kind == SledKind::typed_event) {
    return state_of_event_sled(bytes, shape);
  }
  return state_of_function_sled(bytes, kind == SledKind::exit);
}

std::size_t nop_bytes(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  while (const auto length = nop_length(bytes.subspan(at))) {
    at += *length;
  }
  return at;
}

HookCall hook_call(std::span<const std::byte> bytes, core::Address address) {
  constexpr std::array kFiveByteNop = {std::byte{0x0F}, std::byte{0x1F}, std::byte{0x44},
                                       std::byte{0x00}, std::byte{0x00}};
  // Linkers turn a call through the offset table into addr32 call where they know the destination.
  const std::size_t prefix = !bytes.empty() && bytes[0] == std::byte{0x67} ? 1 : 0;
  const auto direct = core::read_at<std::int32_t>(bytes, prefix + 1);
  if (direct && bytes[prefix] == kCall) {
    return {HookCall::Kind::direct, prefix + 5, destination(address + (prefix + 5), *direct)};
  }
  const auto slot = core::read_at<std::int32_t>(bytes, 2);
  if (slot && core::read_at<std::uint16_t>(bytes, 0) == 0x15FFU) {  // call *slot(%rip)
    return {HookCall::Kind::through_memory, 6, destination(address + 6, *slot)};
  }
  if (bytes.size() >= kFiveByteNop.size() &&
      std::equal(kFiveByteNop.begin(), kFiveByteNop.end(), bytes.begin())) {
    return {HookCall::Kind::nops, kFiveByteNop.size(), {}};
  }
  return {};
}

}  // namespace sp::arch::x86_64
