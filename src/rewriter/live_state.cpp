#include "rewriter/live_state.h"

#include <algorithm>
#include <array>

#include "rewriter/cpu.h"

namespace sp::rewriter {
namespace {

using core::Address;
using core::BasicBlock;
using core::Flow;

/// A set of registers (from bit 0 on), flags (behind them), and of flags that known code reads
/// (from bit 48 on): the latter leave out what is only assumed to be live.
using Set = std::uint64_t;

constexpr unsigned kFlagsAt = cpu::kGeneralRegisters;
constexpr unsigned kReadFlagsAt = 48;
constexpr Set kAllRegisters = (Set{1} << cpu::kGeneralRegisters) - 1;
constexpr Set kAllFlags = cpu::kCountingFlags << kFlagsAt;
static_assert((kAllRegisters | kAllFlags) >> 32U == 0, "LiveState::live_ has so many");
constexpr Set kEverything = kAllRegisters | kAllFlags;
constexpr std::uint32_t kUnknown = static_cast<std::uint32_t>(kEverything);

/// Flags that known code reads.
constexpr Set read_flags(std::uint64_t flags) { return flags << kFlagsAt | flags << kReadFlagsAt; }

struct Effect {
  Set reads = 0;
  Set kills = 0;

  [[nodiscard]] Set before(Set after) const { return (after & ~kills) | reads; }
};

Effect effect_of(std::span<const std::byte> code) {
  const arch::LiveEffects effects = cpu::live_effects(code);
  if (!effects.is_known) {
    return {kEverything, 0};  // a handler of its signal may look, but no code is meant to
  }
  const Set overwritten = Set{effects.overwrites} & ~Set{cpu::kAlwaysLive};
  return {Set{effects.reads} | cpu::kAlwaysLive | read_flags(effects.reads_flags),
          overwritten | read_flags(effects.kills_flags)};
}

constexpr std::uint32_t kNone = ~0U;

/// Where control goes at a block's end.
struct Exit {
  Set always = 0;                                 // live there, wherever it goes
  std::array<std::uint32_t, 2> to{kNone, kNone};  // numbers of blocks
  bool to_any_block = false;
  std::vector<std::uint32_t> by_table;  // numbers of blocks
};

/// The blocks of one function and what is live at their starts.
class Solver {
 public:
  Solver(const core::ControlFlowGraph& graph, core::AddressRange bounds,
         std::span<const std::byte> code, std::span<const FlagsReadAt> outside, bool returns_flags)
      : graph_(graph),
        bounds_(bounds),
        code_(code),
        outside_(outside),
        at_return_(returns_flags ? kEverything : kAllRegisters) {
    in_.resize(graph.blocks.size());
    summarize();
    for (const BasicBlock& block : graph.blocks) {
      exits_.push_back(exit_of(block));
    }
    solve();
  }

  /// Calls `note` with each instruction's offset and what is live before it, last ones first.
  template <typename Note>
  void for_each(Note note) const {
    std::size_t effect = 0;
    for (std::size_t number = 0; number < exits_.size(); ++number) {
      const BasicBlock& block = graph_.blocks[number];
      Set live = after(exits_[number]);
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
    const std::uint32_t block = block_at(start);
    return block == kNone ? 0 : in_[block];
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
      for (std::size_t i = exits_.size(); i-- > 0;) {
        const Set live = blocks_[i].before(after(exits_[i]));
        changed = changed || live != in_[i];
        in_[i] = live;
        at_any_block_ |= live;
      }
    }
  }

  [[nodiscard]] Set after(const Exit& exit) const {
    Set live = exit.always;
    for (const std::uint32_t block : exit.to) {
      live |= block == kNone ? 0 : in_[block];
    }
    for (const std::uint32_t block : exit.by_table) {
      live |= block == kNone ? 0 : in_[block];
    }
    return exit.to_any_block ? live | at_any_block_ : live;
  }

  [[nodiscard]] Exit exit_of(const BasicBlock& block) const {
    const core::Instruction& last = block.last;
    Exit exit;
    if (block.falls_through) {
      add_block(last.next(), exit.to[0], exit);
      return exit;
    }
    switch (last.flow) {
      case Flow::branch:
        add_block(last.next(), exit.to[1], exit);
        [[fallthrough]];
      case Flow::jump:
        add_target(last, exit);
        break;
      case Flow::call: {
        const FlagsReadAt* callee = last.target ? known_outside(*last.target) : nullptr;
        exit.always = kAllRegisters | (callee == nullptr ? 0 : read_flags(callee->flags));
        break;
      }
      case Flow::indirect_call:
        exit.always = kAllRegisters;
        break;
      case Flow::ret:
        exit.always = at_return_;
        break;
      case Flow::indirect_jump:
        add_indirect_jump(last.address, exit);
        break;
      case Flow::next:
      case Flow::syscall:
      case Flow::stop:
        exit.always = kEverything;
        break;
    }
    return exit;
  }

  void add_indirect_jump(Address jump, Exit& exit) const {
    const bool is_resolved = !std::ranges::binary_search(graph_.unresolved, jump);
    const auto table = std::ranges::lower_bound(graph_.tables, jump, {}, &core::BranchTable::jump);
    bool are_blocks = table != graph_.tables.end() && table->jump == jump;
    if (are_blocks) {
      for (const Address destination : *table->destinations) {
        const FlagsReadAt* const known = known_outside(destination);
        const bool is_over = known != nullptr && !known->then;
        const std::uint32_t block =
            is_over ? kNone : block_at(known != nullptr ? *known->then : destination);
        are_blocks = are_blocks && (is_over || block != kNone);
        exit.always |= known != nullptr ? read_flags(known->flags) : 0;
        exit.by_table.push_back(block);
      }
    }
    exit.to_any_block = is_resolved && !are_blocks;
    exit.always |= is_resolved || are_blocks ? kAllRegisters : kEverything;
  }

  /// Everything is live, if no block begins there.
  void add_block(Address start, std::uint32_t& to, Exit& exit) const {
    to = block_at(start);
    exit.always |= to == kNone ? kEverything : 0;
  }
  void add_target(const core::Instruction& jump, Exit& exit) const {
    const bool leaves = jump.target && !bounds_.contains(*jump.target);
    const FlagsReadAt* known = leaves ? known_outside(*jump.target) : nullptr;
    if (known != nullptr) {
      exit.always |= kAllRegisters | read_flags(known->flags);
      if (known->then) {
        add_block(*known->then, exit.to[0], exit);
      }
    } else if (jump.target) {
      add_block(*jump.target, exit.to[0], exit);
    } else {
      exit.always = kEverything;
    }
  }
  [[nodiscard]] std::uint32_t block_at(Address start) const {
    const auto found = std::ranges::lower_bound(graph_.blocks, start, {}, &BasicBlock::start);
    return found != graph_.blocks.end() && found->start == start
               ? static_cast<std::uint32_t>(found - graph_.blocks.begin())
               : kNone;
  }
  [[nodiscard]] const FlagsReadAt* known_outside(Address target) const {
    const auto found = std::ranges::lower_bound(outside_, target, {}, &FlagsReadAt::at);
    return found != outside_.end() && found->at == target ? &*found : nullptr;
  }

  const core::ControlFlowGraph& graph_;
  core::AddressRange bounds_;
  std::span<const std::byte> code_;
  std::span<const FlagsReadAt> outside_;
  Set at_return_;
  std::vector<Effect> effects_;  // of all instructions, block by block
  std::vector<Effect> blocks_;
  std::vector<Exit> exits_;
  std::vector<Set> in_;
  Set at_any_block_ = 0;
};

}  // namespace

LiveState LiveState::of(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                        std::span<const std::byte> code, std::span<const FlagsReadAt> outside,
                        bool returns_flags) {
  const Solver solver(graph, bounds, code, outside, returns_flags);
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
    if (block.last.flow == Flow::indirect_call) {
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
  return {live >> kFlagsAt, static_cast<std::uint32_t>(live & kAllRegisters), false};
}

}  // namespace sp::rewriter
