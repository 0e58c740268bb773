#include "rewriter/live_state.h"

#include "arch/x86_64/flags.h"

namespace sp::rewriter {

LiveState LiveState::of(const core::ControlFlowGraph& /*graph*/, core::AddressRange bounds,
                        std::span<const std::byte> /*code*/,
                        std::span<const FlagsReadAt> /*outside*/) {
  LiveState state;
  state.bounds_ = bounds;
  return state;
}

LiveBefore LiveState::before(core::Address /*instruction*/) const {
  return {arch::x86_64::kArithmeticFlags, 0xFFFF};
}

}  // namespace sp::rewriter
