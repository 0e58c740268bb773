#include "arch/aarch64/frames.h"

#include <algorithm>

#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

/// 0, which is UDF #0, if there is no whole word.
std::uint32_t first_word(std::span<const std::byte> bytes) { return read_word(bytes).value_or(0); }

std::uint32_t last_word(std::span<const std::byte> bytes) {
  return bytes.size() < 4 ? 0 : first_word(bytes.last(4));
}

constexpr std::uint32_t kMovX8RtSigreturn = 0xd2801168;
constexpr std::uint32_t kSvc0 = 0xd4000001;
constexpr std::uint32_t kNop = 0xd503201f;
constexpr std::uint32_t kBtiC = 0xd503245f;
constexpr std::uint32_t kPaciasp = 0xd503233f;
constexpr std::uint32_t kRet = 0xd65f03c0;
constexpr std::uint32_t kMovX29Sp = 0x910003fd;
constexpr std::uint32_t kPushX16X30 = 0xa9bf7bf0;  // stp x16, x30, [sp, #-16]!

bool is_push_of_frame(std::uint32_t word) {  // stp x29, x30, [sp, #-n]!
  return (word & 0xffe07fffU) == 0xa9a07bfdU;
}
std::int64_t pushed_by(std::uint32_t word) {
  return 8 * (128 - static_cast<std::int64_t>((word >> 15U) & 0x7fU));
}
bool does_nothing(std::uint32_t word) { return word == kNop || word == kBtiC; }
/// A PLT stub up to its jump: adrp x16; ldr x17, [x16, #n]; add x16, x16, #n.
bool is_of_stub(std::uint32_t word) {
  return does_nothing(word) || (word & 0x9f00001fU) == 0x90000010U ||
         (word & 0xffc003ffU) == 0xf9400211U || (word & 0xffc003ffU) == 0x91000210U;
}
bool is_jump_of_stub(std::uint32_t word) { return word == 0xd61f0220U || word == 0xd71f0a30U; }

}  // namespace

bool Frames::ends_in_call(std::span<const std::byte> before) {
  const std::uint32_t word = last_word(before);
  return is_bl(word) || (is_register_branch(word) && register_branch(word) == RegisterBranch::blr);
}

std::optional<std::int64_t> Frames::called(std::span<const std::byte> before) {
  const std::uint32_t word = last_word(before);
  if (!is_bl(word)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(offset_26(word)) - 4;  // which counts from the bl itself
}

bool Frames::is_signal_return(std::span<const std::byte> before, std::span<const std::byte> code) {
  if (first_word(code) == kSvc0) {
    return last_word(before) == kMovX8RtSigreturn;
  }
  return code.size() >= 8 && first_word(code) == kMovX8RtSigreturn &&
         first_word(code.subspan(4)) == kSvc0;
}

std::int64_t Frames::signal_slot(unsigned dwarf_register) {
  // sp is at the kernel's struct rt_sigframe: a siginfo_t of 128 bytes and a ucontext_t, whose
  // struct sigcontext begins at byte 176 with a fault address before x0-x30, sp, pc.
  return 128 + 176 + 8 + 8 * static_cast<std::int64_t>(dwarf_register);
}

std::optional<Frames::Interrupted> Frames::interrupted(std::span<const std::uint64_t> words,
                                                       std::size_t at) {
  // struct sigcontext: .., sp, pc, pstate, 8 bytes of padding, and the first extension's header:
  // FPSIMD_MAGIC, the size of its struct.
  constexpr std::size_t kFromSp = 4;
  constexpr std::uint64_t kVectorHeader = 0x210'4650'8001;
  const bool is_frame = at >= kFromSp && words[at] == kVectorHeader;
  if (!is_frame) {
    return std::nullopt;
  }
  return Interrupted{core::Address{words[at - kFromSp + 1]}, core::Address{words[at - kFromSp]}};
}

std::size_t Frames::idle_length(std::span<const std::byte> code) {
  return does_nothing(first_word(code)) ? sizeof(std::uint32_t) : 0;
}

std::optional<std::int64_t> Frames::frameless_return_slot(std::span<const std::byte> /*before*/,
                                                          std::span<const std::byte> /*code*/) {
  return std::nullopt;
}

std::optional<std::int64_t> Frames::linked_return(std::span<const std::byte> before,
                                                  std::span<const std::byte> code) {
  constexpr std::size_t kLongestStub = 6;
  if (first_word(code) == kRet) {
    return 0;
  }
  if (is_push_of_frame(last_word(before)) && first_word(code) == kMovX29Sp) {
    return pushed_by(last_word(before));
  }
  std::size_t at = 0;
  while (does_nothing(first_word(code.subspan(std::min(at, code.size())))) ||
         first_word(code.subspan(std::min(at, code.size()))) == kPaciasp) {
    at += kWord;
  }
  if (at < code.size() && is_push_of_frame(first_word(code.subspan(at)))) {
    return 0;
  }
  // PLT0 pushes and then continues like the other stubs.
  const bool is_first = first_word(code) == kPushX16X30;
  for (at = is_first ? kWord : 0; at < kLongestStub * kWord && at < code.size(); at += kWord) {
    const std::uint32_t word = first_word(code.subspan(at));
    if (is_jump_of_stub(word)) {
      break;
    }
    if (!is_of_stub(word)) {
      return std::nullopt;
    }
  }
  if (at >= code.size() || !is_jump_of_stub(first_word(code.subspan(at)))) {
    return std::nullopt;
  }
  for (std::size_t back = kWord; !is_first && back <= before.size(); back += kWord) {
    const std::uint32_t word = last_word(before.first(before.size() - back + kWord));
    if (word == kPushX16X30) {
      return 16;
    }
    if (!is_of_stub(word)) {
      break;
    }
  }
  return 0;
}

}  // namespace sp::arch::aarch64
