#include "arch/x86_64/syscall_sites.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "arch/x86_64/decoder.h"
#include "arch/x86_64/syscall.h"

namespace sp::arch::x86_64 {
namespace {

constexpr std::size_t kFarthest = 48;  // from the number to the call, bytes
constexpr std::byte kMovEax{0xB8};
constexpr std::byte kMovToRm{0xC7};
constexpr std::byte kEaxOperand{0xC0};
constexpr std::byte kFirst{0x0F};  // of syscall
constexpr std::byte kSecond{0x05};

/// `mov $number, %eax` at `at`, in either encoding. The second one is behind REX.W where the
/// operand is rax.
std::optional<int> number_at(std::span<const std::byte> text, std::size_t at) {
  std::size_t behind = 0;
  if (text[at] == kMovEax) {
    behind = at + 1;
  } else if (text[at] == kMovToRm && at + 1 < text.size() && text[at + 1] == kEaxOperand) {
    behind = at + 2;
  }
  std::uint32_t number = 0;
  if (behind == 0 || behind + sizeof number > text.size()) {
    return std::nullopt;
  }
  std::memcpy(&number, &text[behind], sizeof number);
  constexpr std::uint32_t kMost = 1024;
  return number < kMost ? std::optional(static_cast<int>(number)) : std::nullopt;
}

/// Instructions lead from `from` to `to`, one after the other.
bool leads_to(std::span<const std::byte> text, std::size_t from, std::size_t to) {
  while (from < to) {
    const auto instruction = decode(text.subspan(from), core::Address{from});
    if (!instruction || instruction->flow != core::Flow::next) {
      return false;
    }
    from += instruction->length;
  }
  return from == to;
}

}  // namespace

std::vector<SyscallSite> find_syscall_sites(std::span<const std::byte> text,
                                            std::span<const std::string_view> names) {
  std::vector<SyscallSite> sites;
  const std::byte* const end = text.data() + text.size();
  for (const std::byte* there = text.data(); there < end; ++there) {
    there = static_cast<const std::byte*>(
        std::memchr(there, static_cast<int>(kFirst), static_cast<std::size_t>(end - there)));
    if (there == nullptr) {
      break;
    }
    if (there + 1 == end || there[1] != kSecond) {
      continue;
    }
    const auto call = static_cast<std::size_t>(there - text.data());
    for (std::size_t back = 5; back <= std::min(call, kFarthest); ++back) {
      const auto number = number_at(text, call - back);
      if (number && std::find(names.begin(), names.end(), syscall_name(*number)) != names.end() &&
          leads_to(text, call - back, call)) {
        sites.push_back({*number, call - back, call});
        break;
      }
    }
  }
  return sites;
}

}  // namespace sp::arch::x86_64
