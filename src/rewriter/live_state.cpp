#include "rewriter/live_state.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/flag_effects.h"
#include "arch/x86_64/flags.h"
#include "arch/x86_64/register_effects.h"

namespace sp::rewriter {
namespace {

using arch::x86_64::kArithmeticFlags;
using core::Address;
using core::BasicBlock;
using core::Flow;

/// A set of registers (bits 0 to 15), flags (from bit 16 on), and of flags that known code reads
/// (from bit 32 on): the latter leave out what is only assumed to be live.
using Set = std::uint64_t;

constexpr unsigned kFlagsAt = 16;
constexpr unsigned kReadFlagsAt = 32;
constexpr Set kAllRegisters = 0xFFFF;
constexpr Set kAllFlags = kArithmeticFlags << kFlagsAt;
constexpr Set kEverything = kAllRegisters | kAllFlags;
constexpr Set kStackPointer = 1U << 4U;
constexpr std::uint32_t kUnknown = static_cast<std::uint32_t>(kEverything);

/// Flags that known code reads.
constexpr Set read_flags(std::uint64_t flags) { return flags << kFlagsAt | flags << kReadFlagsAt; }

struct Effect {
  Set reads = 0;
  Set kills = 0;

  [[nodiscard]] Set before(Set after) const { return (after & ~kills) | reads; }
};

Effect effect_of(std::span<const std::byte> code) {
  const auto encoding = arch::x86_64::read_encoding(code);
  if (!encoding) {
    return {kEverything, 0};
  }
  const auto flags = arch::x86_64::flag_effects(*encoding);
  const auto registers = arch::x86_64::register_effects(*encoding);
  const Set overwritten = registers.overwrites & ~kStackPointer;
  return {registers.reads | kStackPointer | read_flags(flags.reads),
          overwritten | read_flags(flags.kills)};
}

/// The blocks of one function and what is live at their starts.
class Solver {
 public:
  Solver(const core::ControlFlowGraph& graph, core::AddressRange bounds,
         std::span<const std::byte> code, std::span<const FlagsReadAt> outside)
      : graph_(graph), bounds_(bounds), code_(code), outside_(outside) {
    block_at_.reserve(graph.blocks.size());
    for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
      block_at_.emplace(graph.blocks[i].start, i);
    }
    in_.resize(graph.blocks.size());
    summarize();
    solve();
  }

  /// Calls `note` with each instruction's offset and what is live before it, last ones first.
  template <typename Note>
  void for_each(Note note) const {
    std::size_t effect = 0;
    for (const BasicBlock& block : graph_.blocks) {
      Set live = after(block);
      std::uint64_t end = block.last.next() - bounds_.begin;
      for (std::size_t i = block.lengths.size(); i-- > 0;) {
        live = effects_[effect + i].before(live);
        end -= block.lengths[i];
        note(end, live);
      }
      effect += block.lengths.size();
    }
  }

  [[nodiscard]] Set at(Address start) const {
    const auto found = block_at_.find(start);
    return found == block_at_.end() ? 0 : in_[found->second];
  }

 private:
  /// The effects of all instructions, and of each block as a whole.
  void summarize() {
    for (const BasicBlock& block : graph_.blocks) {
      Effect whole;
      std::uint64_t at = block.start - bounds_.begin;
      for (const std::uint8_t length : block.lengths) {
        const Effect effect =
            at < code_.size() ? effect_of(code_.subspan(at)) : Effect{kEverything, 0};
        effects_.push_back(effect);
        whole.reads |= effect.reads & ~whole.kills;
        whole.kills |= effect.kills;
        at += length;
      }
      blocks_.push_back(whole);
    }
  }

  /// Repeats until nothing changes. Blocks are visited from the last to the first, so that most
  /// functions take one pass more than their loops are deep.
  void solve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = graph_.blocks.size(); i-- > 0;) {
        const Set live = blocks_[i].before(after(graph_.blocks[i]));
        changed = changed || live != in_[i];
        in_[i] = live;
        at_any_block_ |= live;
      }
    }
  }

  [[nodiscard]] Set after(const BasicBlock& block) const {
    const core::Instruction& last = block.last;
    if (block.falls_through) {
      return at_next(last.next());
    }
    switch (last.flow) {
      case Flow::jump:
        return at_target(last);
      case Flow::branch:
        return at_target(last) | at_next(last.next());
      case Flow::call: {
        const FlagsReadAt* callee = known_outside(*last.target);
        return kAllRegisters | (callee == nullptr ? 0 : read_flags(callee->flags));
      }
      case Flow::indirect_call:
      case Flow::ret:
        return kAllRegisters;
      case Flow::indirect_jump:
        return std::ranges::binary_search(graph_.unresolved, last.address)
                   ? kEverything
                   : kAllRegisters | at_any_block_;
      case Flow::next:
      case Flow::syscall:
      case Flow::stop:
        return kEverything;
    }
    return kEverything;
  }

  /// Everything, if no block begins there.
  [[nodiscard]] Set at_next(Address next) const {
    const auto found = block_at_.find(next);
    return found == block_at_.end() ? kEverything : in_[found->second];
  }
  [[nodiscard]] Set at_target(const core::Instruction& jump) const {
    if (!jump.target) {
      return kEverything;
    }
    const FlagsReadAt* known = known_outside(*jump.target);
    const bool is_inside = bounds_.contains(*jump.target);
    return known == nullptr || is_inside ? at_next(*jump.target)
                                         : kAllRegisters | read_flags(known->flags);
  }
  [[nodiscard]] const FlagsReadAt* known_outside(Address target) const {
    const auto found = std::ranges::lower_bound(outside_, target, {}, &FlagsReadAt::at);
    return found != outside_.end() && found->at == target ? &*found : nullptr;
  }

  const core::ControlFlowGraph& graph_;
  core::AddressRange bounds_;
  std::span<const std::byte> code_;
  std::span<const FlagsReadAt> outside_;
  std::unordered_map<Address, std::size_t> block_at_;
  std::vector<Effect> effects_;  // of all instructions, block by block
  std::vector<Effect> blocks_;
  std::vector<Set> in_;
  Set at_any_block_ = 0;
};

}  // namespace

LiveState LiveState::of(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                        std::span<const std::byte> code, std::span<const FlagsReadAt> outside) {
  const Solver solver(graph, bounds, code, outside);
  LiveState state;
  state.bounds_ = bounds;
  state.live_.assign(code.size(), kUnknown);
  solver.for_each([&state](std::uint64_t offset, Set live) {
    if (offset < state.live_.size()) {
      state.live_[offset] = static_cast<std::uint32_t>(live);
    }
  });
  const auto check = [&](Address at) {
    if (solver.at(at) >> kReadFlagsAt != 0) {
      state.flags_across_calls_.push_back(at);
    }
  };
  check(bounds.begin);
  for (const BasicBlock& block : graph.blocks) {
    if (block.last.flow == Flow::call || block.last.flow == Flow::indirect_call) {
      check(block.last.next());
    }
  }
  std::ranges::sort(state.flags_across_calls_);
  return state;
}

LiveBefore LiveState::before(core::Address instruction) const {
  std::uint32_t live = kUnknown;
  if (bounds_.contains(instruction) && instruction - bounds_.begin < live_.size()) {
    live = live_[instruction - bounds_.begin];
  }
  return {live >> kFlagsAt, static_cast<std::uint16_t>(live & kAllRegisters)};
}

}  // namespace sp::rewriter
