#include "supervisor/breakpoints/atomic_sequences.h"

#include <array>
#include <span>

#include "arch/native.h"

namespace sp::supervisor {

using arch::Native;

std::size_t sequence_at(BreakpointTable& table, core::Address address) {
  if constexpr (Native::kLongestAtomicSequence > 0) {
    std::array<std::byte, Native::kLongestAtomicSequence> code{};
    const std::span<std::byte> there = std::span(code).first(table.fetch(address, code));
    const bool can_move = Native::relocate_atomic_sequence(there, address, address).has_value();
    return can_move ? Native::atomic_sequence_length(there) : 0;
  } else {
    return 0;
  }
}

bool is_in_sequence(BreakpointTable& table, core::Address address) {
  if constexpr (Native::kLongestAtomicSequence > 0) {
    std::array<std::byte, 2 * Native::kLongestAtomicSequence> code{};
    const core::Address first = address - Native::kLongestAtomicSequence;
    const std::span<std::byte> there = std::span(code).first(table.fetch(first, code));
    for (std::size_t at = 0; at <= Native::kLongestAtomicSequence && at < there.size();
         at += Native::kBreakpoint.size()) {
      if (at + Native::atomic_sequence_length(there.subspan(at)) > Native::kLongestAtomicSequence) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace sp::supervisor
