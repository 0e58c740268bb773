#include "arch/x86_64/frames.h"

#include "arch/x86_64/code_bytes.h"

namespace sp::arch::x86_64 {
namespace {

/// Length of FF /2 (call r/m64) with its ModRM, SIB and displacement; 0 where it is not one.
std::size_t indirect_call_length(Bytes bytes) {
  if (bytes.size() < 2 || byte_at(bytes, 0) != 0xff) {
    return 0;
  }
  const unsigned modrm = byte_at(bytes, 1);
  const unsigned mod = modrm >> 6U;
  const unsigned rm = modrm & 7U;
  if (((modrm >> 3U) & 7U) != 2) {
    return 0;
  }
  if (mod == 3) {
    return 2;
  }
  std::size_t length = 2;
  bool displacement32 = mod == 2 || (mod == 0 && rm == 5);
  if (rm == 4) {
    if (bytes.size() < 3) {
      return 0;
    }
    length += 1;
    displacement32 = displacement32 || (mod == 0 && (byte_at(bytes, 2) & 7U) == 5);
  }
  return length + (mod == 1 ? 1U : 0U) + (displacement32 ? 4U : 0U);
}

}  // namespace

bool Frames::ends_in_call(std::span<const std::byte> before) {
  if (starts_with(tail(before, 5), {0xe8})) {
    return true;
  }
  for (std::size_t length = 2; length <= 7; ++length) {
    if (indirect_call_length(tail(before, length)) == length) {
      return true;
    }
  }
  return false;
}

std::optional<std::int64_t> Frames::called(std::span<const std::byte> before) {
  const Bytes call = tail(before, 5);
  return starts_with(call, {0xe8}) ? std::optional<std::int64_t>(signed32(call, 1)) : std::nullopt;
}

bool Frames::is_signal_return(std::span<const std::byte> before, std::span<const std::byte> code) {
  return starts_with(code, {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}) ||
         starts_with(code, {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}) ||
         (starts_with(code, {0x0f, 0x05}) &&
          (starts_with(tail(before, 7), {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00}) ||
           starts_with(tail(before, 5), {0xb8, 0x0f, 0x00, 0x00, 0x00})));
}

std::int64_t Frames::signal_slot(unsigned dwarf_register) {
  // sp is at a ucontext_t (the handler's return popped the word below it), whose registers begin
  // at byte 40 in the order of the kernel's struct sigcontext: r8-r15 rdi rsi rbp rbx rdx rax rcx
  // rsp rip. Here by DWARF number.
  constexpr std::array<std::int64_t, 17> kPlace = {13, 12, 14, 11, 9, 8, 10, 15, 0,
                                                   1,  2,  3,  4,  5, 6, 7,  16};
  return 40 + 8 * kPlace[dwarf_register];
}

std::optional<Frames::Interrupted> Frames::interrupted(std::span<const std::uint64_t> words,
                                                       std::size_t at) {
  // struct sigcontext: .., rsp, rip, eflags, and cs, gs, fs, ss of 16 bits each. The kernel leaves
  // gs and fs 0, and an old one ss, too.
  constexpr std::size_t kFromSp = 3;
  constexpr std::uint64_t kUserCs = 0x33;
  constexpr std::uint64_t kUserSs = std::uint64_t{0x2B} << 48U;
  const bool is_frame = at >= kFromSp && (words[at] == (kUserSs | kUserCs) || words[at] == kUserCs);
  if (!is_frame) {
    return std::nullopt;
  }
  return Interrupted{core::Address{words[at - kFromSp + 1]}, core::Address{words[at - kFromSp]}};
}

std::optional<std::int64_t> Frames::frameless_return_slot(std::span<const std::byte> before,
                                                          std::span<const std::byte> code) {
  if (starts_with(code, {0xf3, 0x0f, 0x1e, 0xfa})) {  // endbr64
    return frameless_return_slot({}, code.subspan(4));
  }
  if (starts_with(code, {0xff, 0x35})) {  // push link_map(%rip), above the pushed index
    return 8;
  }
  if (starts_with(tail(before, 6), {0xff, 0x35}) &&
      (starts_with(code, {0xff, 0x25}) || starts_with(code, {0xf2, 0xff, 0x25}))) {
    return 16;
  }
  if (starts_with(code, {0xff, 0x25}) || starts_with(code, {0xf2, 0xff, 0x25})) {
    return 0;  // jmp *slot(%rip)
  }
  if (code.size() >= 6 && starts_with(code, {0x68}) &&
      (byte_at(code, 5) == 0xe9 || byte_at(code, 5) == 0xf2)) {
    return 0;  // push $index; jmp PLT0
  }
  if (starts_with(tail(before, 5), {0x68}) &&
      (starts_with(code, {0xe9}) || starts_with(code, {0xf2, 0xe9}))) {
    return 8;
  }
  if (starts_with(code, {0x55, 0x48, 0x89, 0xe5})) {  // push %rbp; mov %rsp, %rbp
    return 0;
  }
  if (starts_with(tail(before, 1), {0x55}) && starts_with(code, {0x48, 0x89, 0xe5})) {
    return 8;
  }
  return std::nullopt;
}

}  // namespace sp::arch::x86_64
