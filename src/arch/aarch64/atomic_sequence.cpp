#include "arch/aarch64/atomic_sequence.h"

#include <algorithm>
#include <cstdint>

#include "arch/aarch64/decoder.h"
#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;
using core::Flow;

/// ldxr, stxr and related ones; not casp, which shares their bits.
bool is_exclusive(std::uint32_t word) {
  const bool is_casp = field(word, 21, 1) == 1 && field(word, 31, 1) == 0;
  return matches(word, 0x3F800000U, 0x08000000U) && !is_casp;
}
bool is_load_exclusive(std::uint32_t word) { return is_exclusive(word) && field(word, 22, 1) == 1; }
bool is_store_exclusive(std::uint32_t word) {
  return is_exclusive(word) && field(word, 22, 1) == 0;
}

void put(std::vector<std::byte>& code, std::uint32_t word) {
  for (unsigned i = 0; i < kWord; ++i) {
    code.push_back(static_cast<std::byte>((word >> (8U * i)) & 0xFFU));
  }
}

/// The branch with another offset.
std::uint32_t redirected(std::uint32_t word, std::size_t bytes) {
  const std::uint32_t mask = is_tbz(word) ? 0x0007FFE0U : 0x00FFFFE0U;
  return (word & ~mask) | ((static_cast<std::uint32_t>(bytes / kWord) << 5U) & mask);
}

std::optional<std::uint32_t> jump(Address from, Address to) {
  const std::uint64_t offset = to.value() - from.value();
  constexpr std::uint64_t kReach = 1ULL << 27U;
  if (offset + kReach >= 2 * kReach) {
    return std::nullopt;
  }
  return 0x14000000U | (static_cast<std::uint32_t>(offset >> 2U) & 0x03FFFFFFU);
}

}  // namespace

std::size_t atomic_sequence_length(std::span<const std::byte> code) {
  const auto first = read_word(code);
  if (!first || !is_load_exclusive(*first)) {
    return 0;
  }
  for (std::size_t at = kWord; at + kWord <= std::min(code.size(), kLongestAtomicSequence);
       at += kWord) {
    const auto word = read_word(code.subspan(at));
    if (word && is_load_exclusive(*word)) {
      return 0;  // the first one stands alone
    }
    if (word && is_store_exclusive(*word)) {
      return at + kWord;
    }
  }
  return 0;
}

std::optional<RelocatedAtomicSequence> relocate_atomic_sequence(std::span<const std::byte> code,
                                                                Address from, Address to) {
  const std::size_t length = atomic_sequence_length(code);
  const core::AddressRange inside{from, from + length};
  std::vector<Address> targets{inside.end};
  RelocatedAtomicSequence copy;
  for (std::size_t at = 0; at < length; at += kWord) {
    const auto word = read_word(code.subspan(at));
    const auto instruction = decode(code.subspan(at), from + at);
    if (!instruction || (instruction->flow != Flow::next && instruction->flow != Flow::branch) ||
        is_adr(*word) || matches(*word, 0x3B000000U, 0x18000000U)) {
      return std::nullopt;
    }
    if (instruction->flow == Flow::next || inside.contains(*instruction->target)) {
      put(copy.code, *word);
    } else {
      const std::size_t exit = length + kWord * targets.size();
      put(copy.code, redirected(*word, exit - at));
      targets.push_back(*instruction->target);
    }
  }
  for (const Address target : targets) {
    const auto word = jump(to + copy.code.size(), target);
    if (!word || length == 0 || copy.code.size() + kWord > kLongestRelocatedSequence) {
      return std::nullopt;
    }
    copy.exits.push_back({copy.code.size(), target});
    put(copy.code, *word);
  }
  return copy;
}

}  // namespace sp::arch::aarch64
