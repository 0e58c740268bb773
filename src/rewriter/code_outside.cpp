#include "rewriter/code_outside.h"

#include <cstdint>

#include "arch/x86_64/flag_effects.h"
#include "arch/x86_64/flags.h"
#include "arch/x86_64/move.h"

namespace sp::rewriter {

using arch::x86_64::kArithmeticFlags;
using core::Address;
using core::Flow;

std::optional<FlagsReadAt> find_without_flags(std::span<const std::byte> code, Address at) {
  constexpr int kMost = 12;
  FlagsReadAt found{at};
  std::uint64_t live = kArithmeticFlags;
  for (int i = 0; i < kMost && live != 0; ++i) {
    const auto source = arch::x86_64::read_instruction(code, at);
    const auto effects = source ? arch::x86_64::flag_effects(source->encoding)
                                : arch::x86_64::FlagEffects{kArithmeticFlags, 0};
    if ((effects.reads & live) != 0) {
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
    live &= ~std::uint64_t{effects.kills};
    code = code.subspan(source->instruction.length);
    at = source->instruction.next();
  }
  return live == 0 ? std::optional(found) : std::nullopt;
}

}  // namespace sp::rewriter
