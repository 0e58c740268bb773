#include "arch/aarch64/syscall_sites.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "arch/aarch64/decoder.h"
#include "arch/aarch64/encoding.h"
#include "arch/aarch64/syscall.h"

namespace sp::arch::aarch64 {
namespace {

constexpr std::size_t kFarthest = 12;  // from the number to the call, instructions
constexpr std::uint32_t kSvc = 0xD400'0001;

std::uint32_t word_at(std::span<const std::byte> text, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, &text[at], sizeof word);
  return word;
}

/// `mov x8, #number` or `mov w8, #number`.
std::optional<int> number_of(std::uint32_t word) {
  constexpr std::uint32_t kOpcode = 0x7FE0'001F;
  constexpr std::uint32_t kMovX8 = 0x5280'0008;
  return (word & kOpcode) == kMovX8 ? std::optional(static_cast<int>(word >> 5U & 0xFFFFU))
                                    : std::nullopt;
}

bool continues(std::span<const std::byte> text, std::size_t at) {
  const auto instruction = decode(text.subspan(at, kWord), core::Address{at});
  return instruction && instruction->flow == core::Flow::next;
}

}  // namespace

std::vector<SyscallSite> find_syscall_sites(std::span<const std::byte> text,
                                            std::span<const std::string_view> names) {
  std::vector<SyscallSite> sites;
  for (std::size_t call = 0; call + kWord <= text.size(); call += kWord) {
    if (word_at(text, call) != kSvc) {
      continue;
    }
    for (std::size_t back = kWord; back <= std::min(call, kFarthest * kWord); back += kWord) {
      const std::size_t at = call - back;
      if (!continues(text, at)) {
        break;
      }
      if (const auto number = number_of(word_at(text, at))) {
        if (std::find(names.begin(), names.end(), syscall_name(*number)) != names.end()) {
          sites.push_back({*number, at, call});
        }
        break;
      }
    }
  }
  return sites;
}

}  // namespace sp::arch::aarch64
