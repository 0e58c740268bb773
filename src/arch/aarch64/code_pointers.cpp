#include "arch/aarch64/code_pointers.h"

#include <algorithm>

#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

/// Compilers put the two instructions of an address apart, but seldom farther than this.
constexpr std::size_t kFarthest = 64 * kWord;

/// What the instruction adds to `reg`, of an address whose page that holds: add of an immediate,
/// and, with `accesses`, loads and stores.
std::optional<std::uint64_t> offset_from(std::uint32_t word, unsigned reg, bool accesses) {
  if (field(word, 5, 5) != reg) {
    return std::nullopt;
  }
  const std::uint64_t immediate = field(word, 10, 12);
  if (matches(word, 0xFFC00000U, 0x91000000U)) {
    return immediate;
  }
  if (accesses && matches(word, 0x3F000000U, 0x39000000U)) {
    return immediate << field(word, 30, 2);
  }
  return std::nullopt;
}

/// All values for which an adrp provides the page, in the order of the code.
std::vector<std::uint64_t> values_of(std::span<const std::byte> code, std::uint64_t page,
                                     unsigned reg, bool accesses) {
  std::vector<std::uint64_t> values;
  for (std::size_t at = kWord; at + kWord <= std::min(code.size(), kFarthest); at += kWord) {
    const std::uint32_t word = *read_word(code.subspan(at));
    if (const auto offset = offset_from(word, reg, accesses)) {
      values.push_back(page + *offset);
    }
    if (is_adr(word) && field(word, 0, 5) == reg) {
      break;
    }
  }
  return values;
}

}  // namespace

std::vector<std::uint64_t> code_pointers(std::span<const std::byte> code, core::Address address) {
  const auto word = read_word(code);
  if (!word || !is_adr(*word)) {
    return {};
  }
  const std::uint64_t value = adr_value(*word, address.value());
  const bool is_page = field(*word, 31, 1) == 1;
  return is_page ? values_of(code, value, field(*word, 0, 5), false) : std::vector{value};
}

std::optional<std::uint64_t> named_memory(std::span<const std::byte> code, core::Address address) {
  const auto word = read_word(code);
  if (!word) {
    return std::nullopt;
  }
  if (matches(*word, 0x3B000000U, 0x18000000U)) {
    return address.value() + offset_19(*word);
  }
  if (!is_adr(*word)) {
    return std::nullopt;
  }
  const std::uint64_t value = adr_value(*word, address.value());
  if (field(*word, 31, 1) == 0) {
    return value;
  }
  const auto values = values_of(code, value, field(*word, 0, 5), true);
  return values.empty() ? std::nullopt : std::optional(values.front());
}

}  // namespace sp::arch::aarch64
