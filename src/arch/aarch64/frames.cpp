#include "arch/aarch64/frames.h"

#include <cstring>

namespace sp::arch::aarch64 {
namespace {

/// 0, which is UDF #0, where there is no whole word.
std::uint32_t first_word(std::span<const std::byte> bytes) {
  std::uint32_t word = 0;
  if (bytes.size() >= sizeof(word)) {
    std::memcpy(&word, bytes.data(), sizeof(word));
  }
  return word;
}

std::uint32_t last_word(std::span<const std::byte> bytes) {
  return bytes.size() < 4 ? 0 : first_word(bytes.last(4));
}

constexpr std::uint32_t kMovX8RtSigreturn = 0xd2801168;
constexpr std::uint32_t kSvc0 = 0xd4000001;

}  // namespace

bool Frames::ends_in_call(std::span<const std::byte> before) {
  const std::uint32_t word = last_word(before);
  const bool bl = (word & 0xfc000000U) == 0x94000000U;
  const bool blr = (word & 0xfffffc1fU) == 0xd63f0000U;
  const bool authenticated_blr = (word & 0xfefff800U) == 0xd63f0800U;  // BLRAA BLRAB BLRAAZ BLRABZ
  return bl || blr || authenticated_blr;
}

std::optional<std::int64_t> Frames::called(std::span<const std::byte> /*before*/) {
  return std::nullopt;
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

std::optional<Frames::Exit> Frames::find_exit(std::span<const std::byte> /*code*/) {
  return std::nullopt;
}

std::optional<std::int64_t> Frames::frameless_return_slot(std::span<const std::byte> /*before*/,
                                                          std::span<const std::byte> /*code*/) {
  return std::nullopt;
}

}  // namespace sp::arch::aarch64
