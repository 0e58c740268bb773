#include "arch/aarch64/sleds.h"

#include <algorithm>
#include <array>

#include "arch/aarch64/encoding.h"
#include "core/bytes.h"

namespace sp::arch::aarch64 {
namespace {

using core::SledKind;

constexpr std::uint32_t kSledNop = 0xD503'201F;
constexpr std::uint32_t kBrk = 0xD420'0000;
constexpr std::uint32_t kMovX0Lr = 0xAA1E'03E0;
constexpr std::size_t kSledWords = 8;
constexpr std::uint32_t kBranch = 0x1400'0000;  // b, plus the number of instructions
using SledWords = std::array<std::uint32_t, kSledWords>;

// b +32; seven nops
constexpr SledWords kCompiled = {
    kBranch + kSledWords, kSledNop, kSledNop, kSledNop, kSledNop, kSledNop, kSledNop, kSledNop};
// stp x0, x30, [sp, #-16]!; ldr w0, ID; ldr x16, TRAMPOLINE; blr x16; ID; TRAMPOLINE;
// ldp x0, x30, [sp], #16. Words 4 to 6 are data.
constexpr SledWords kPatched = {0xA9BF'7BE0, 0x1800'0060, 0x5800'0070, 0xD63F'0200,
                                0,           0,           0,           0xA8C1'7BE0};
constexpr std::size_t kFirstData = 4;
constexpr std::size_t kBehindData = 7;

bool is_call(std::uint32_t word) { return matches(word, 0xFC00'0000, 0x9400'0000); }

std::uint32_t word_of(std::span<const std::byte> bytes, std::size_t number) {
  return core::read_at<std::uint32_t>(bytes, number * kWord).value_or(0);
}

/// Behind the first word.
bool has_patched_rest(std::span<const std::byte> bytes) {
  for (std::size_t i = 1; i < kSledWords; ++i) {
    const bool is_data = i >= kFirstData && i < kBehindData;
    if (!is_data && word_of(bytes, i) != kPatched[i]) {
      return false;
    }
  }
  return true;
}

SledState state_of_function_sled(std::span<const std::byte> bytes) {
  const std::uint32_t first = word_of(bytes, 0);
  const bool has_patched = has_patched_rest(bytes);
  bool has_compiled = true;
  for (std::size_t i = 1; i < kSledWords; ++i) {
    has_compiled = has_compiled && word_of(bytes, i) == kCompiled[i];
  }
  if (first == kCompiled[0] && (has_compiled || has_patched)) {
    return SledState::unpatched;
  }
  if (first == kPatched[0] && has_patched) {
    return SledState::patched;
  }
  return first == kBrk && (has_compiled || has_patched) ? SledState::breakpoint
                                                        : SledState::unknown;
}

SledState state_of_event_sled(std::span<const std::byte> bytes, const SledShape& shape) {
  const std::uint32_t first = word_of(bytes, 0);
  const std::uint32_t call = word_of(bytes, shape.call / kWord);
  if (first == kSledNop && call == kBrk) {
    return SledState::breakpoint;
  }
  if (!is_call(call)) {
    return SledState::unknown;
  }
  return first == kSledNop                       ? SledState::patched
         : first == kBrk                         ? SledState::breakpoint
         : first == kBranch + shape.size / kWord ? SledState::unpatched
                                                 : SledState::unknown;
}

}  // namespace

SledShape sled_shape(SledKind kind, std::uint8_t /*version*/) {
  switch (kind) {
    case SledKind::entry:
    case SledKind::exit:
    case SledKind::tail_exit:
    case SledKind::entry_with_argument:
      return {kSledWords * kWord, 0};
    case SledKind::custom_event:
      return {6 * kWord, 4 * kWord};
    case SledKind::typed_event:
      return {9 * kWord, 6 * kWord};
  }
  return {};
}

SledState sled_state(std::span<const std::byte> bytes, SledKind kind, std::uint8_t version) {
  const SledShape shape = sled_shape(kind, version);
  if (bytes.size() < shape.size) {
    return SledState::unknown;
  }
  return shape.call != 0 ? state_of_event_sled(bytes, shape) : state_of_function_sled(bytes);
}

std::size_t nop_bytes(std::span<const std::byte> bytes) {
  std::size_t at = 0;
  while (read_word(bytes.subspan(at)) == kSledNop) {
    at += kWord;
  }
  return at;
}

HookCall hook_call(std::span<const std::byte> bytes, core::Address address) {
  // gcc hands the return address over: mov x0, x30; bl _mcount. clang has the bl alone.
  const std::size_t before = read_word(bytes) == kMovX0Lr ? kWord : 0;
  const auto call = read_word(bytes.subspan(before));
  if (!call || !is_call(*call)) {
    return {};
  }
  return {HookCall::Kind::direct, before + kWord, address + before + offset_26(*call)};
}

}  // namespace sp::arch::aarch64
