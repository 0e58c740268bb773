#include "rewriter/code_outside.h"

#include <cstdint>

#include "rewriter/cpu.h"

namespace sp::rewriter {

using core::Address;
using core::Flow;

std::optional<FlagsReadAt> find_without_flags(std::span<const std::byte> code, Address at) {
  constexpr int kMost = 12;
  FlagsReadAt found{at};
  std::uint64_t live = cpu::kCountingFlags;
  for (int i = 0; i < kMost && live != 0; ++i) {
    const auto source = cpu::read_instruction(code, at);
    const arch::LiveEffects effects = cpu::live_effects(code);
    if (!source || !effects.is_known || (effects.reads_flags & live) != 0) {
      return std::nullopt;
    }
    const Flow flow = source->instruction.flow;
    if (flow == Flow::call || flow == Flow::indirect_call) {
      return found;  // no ABI passes any to a function
    }
    if (flow != Flow::next) {
      found.then = flow == Flow::jump ? source->instruction.target : std::nullopt;
      return found.then ? std::optional(found) : std::nullopt;
    }
    live &= ~effects.kills_flags;
    code = code.subspan(source->instruction.length);
    at = source->instruction.next();
  }
  return live == 0 ? std::optional(found) : std::nullopt;
}

}  // namespace sp::rewriter
