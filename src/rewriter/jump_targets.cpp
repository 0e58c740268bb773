#include "rewriter/jump_targets.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "arch/x86_64/jump_table.h"
#include "arch/x86_64/move.h"
#include "arch/x86_64/operands.h"

namespace sp::rewriter {
namespace {

using arch::x86_64::Encoding;
using arch::x86_64::SourceInstruction;
using core::Address;
using core::BasicBlock;
using core::Flow;

constexpr std::size_t kMostBlocks = 64;

/// mov to or from r/m of 64 bits.
bool is_wide_move(const Encoding& encoding, unsigned opcode) {
  return encoding.map == arch::x86_64::OpcodeMap::one_byte && encoding.opcode == opcode &&
         encoding.wide();
}

/// Neither of them computes anything.
bool is_load_or_copy(const Encoding& encoding, unsigned reg) {
  return (is_wide_move(encoding, 0x8B) && encoding.reg() == reg) ||
         (is_wide_move(encoding, 0x89) && encoding.names_register() && encoding.rm() == reg);
}

bool is_leave(const Encoding& encoding) {
  return encoding.map == arch::x86_64::OpcodeMap::one_byte && encoding.opcode == 0xC9;
}

/// pop of a register that functions preserve.
bool restores_register(const Encoding& encoding) {
  constexpr unsigned kRbx = 3;
  constexpr unsigned kFirstOfTheRest = 12;
  const unsigned reg = encoding.opcode_reg();
  return encoding.map == arch::x86_64::OpcodeMap::one_byte && (encoding.opcode & 0xF8U) == 0x58 &&
         (reg == kRbx || reg == arch::x86_64::kRbp || reg >= kFirstOfTheRest);
}

/// The caller's registers are restored in front of a jump by a register, which nothing computes in
/// between: a tail call. Where a function jumps within itself, its frame stays.
bool is_behind_epilogue(std::span<const SourceInstruction> before, unsigned reg) {
  bool restores = false;
  for (auto source = before.rbegin(); source != before.rend(); ++source) {
    if (is_leave(source->encoding) && reg != arch::x86_64::kRbp) {
      restores = true;
      continue;
    }
    restores = restores || restores_register(source->encoding);
    if (arch::x86_64::effect_on({source->instruction.address, source->code}, reg).changes) {
      return restores && is_load_or_copy(source->encoding, reg);
    }
  }
  return restores;
}

bool is_pop_of(const Encoding& encoding, unsigned reg) {
  return encoding.map == arch::x86_64::OpcodeMap::one_byte && (encoding.opcode & 0xF8U) == 0x58 &&
         encoding.opcode_reg() == reg;
}

/// mov of another register to rsp; of a frame pointer it would not leave the frame.
bool takes_other_stack(const Encoding& encoding) {
  using arch::x86_64::kRbp;
  using arch::x86_64::kRsp;
  return encoding.names_register() &&
         ((is_wide_move(encoding, 0x89) && encoding.rm() == kRsp && encoding.reg() != kRbp) ||
          (is_wide_move(encoding, 0x8B) && encoding.reg() == kRsp && encoding.rm() != kRbp));
}

/// GCC's __builtin_eh_return, with which an unwinder goes to a frame further out: rsp is set to
/// that frame, and the jump is to what it pops there, as a return is.
bool is_exception_return(std::span<const SourceInstruction> before, unsigned reg) {
  return before.size() >= 2 && is_pop_of(before.back().encoding, reg) &&
         takes_other_stack(before[before.size() - 2].encoding);
}

class PointerSearch {
 public:
  PointerSearch(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                std::span<const std::byte> code)
      : graph_(graph), bounds_(bounds), code_(code) {
    for (const BasicBlock& block : graph.blocks) {
      for (const SourceInstruction& source : decode(block)) {
        const Encoding& encoding = source.encoding;
        const bool moves_rsp = is_wide_move(encoding, 0x89) && encoding.names_register() &&
                               encoding.reg() == arch::x86_64::kRsp;
        has_frame_pointer_ = has_frame_pointer_ || moves_rsp;
      }
    }
  }

  bool leads_through_pointer(Address jump) {
    const auto block = std::find_if(graph_.blocks.begin(), graph_.blocks.end(),
                                    [&](const auto& b) { return b.last.address == jump; });
    if (block == graph_.blocks.end()) {
      return false;
    }
    const auto sources = decode(*block);
    if (sources.empty()) {
      return false;
    }
    const Encoding& encoding = sources.back().encoding;
    if (encoding.names_memory()) {
      return is_pointer_in(encoding);
    }
    seen_.clear();
    const auto before = std::span(sources).first(sources.size() - 1);
    const unsigned reg = encoding.rm();
    return is_behind_epilogue(before, reg) || is_exception_return(before, reg) ||
           is_pointer(*block, before, reg);
  }

 private:
  std::vector<SourceInstruction> decode(const BasicBlock& block) const {
    std::vector<SourceInstruction> sources;
    Address at = block.start;
    for (const std::uint8_t length : block.lengths) {
      if (!bounds_.contains(at)) {
        return {};
      }
      const auto source = arch::x86_64::read_instruction(code_.subspan(at - bounds_.begin), at);
      if (!source) {
        return {};
      }
      sources.push_back(*source);
      at = at + length;
    }
    return sources;
  }

  /// Memory on the stack may hold what the function has computed.
  [[nodiscard]] bool is_pointer_in(const Encoding& memory) const {
    const unsigned base = memory.has_sib ? memory.base() : memory.rm();
    const bool is_absolute = memory.has_sib && memory.mod() == 0 && (memory.sib & 7U) == 5;
    return memory.is_rip_relative() || is_absolute ||
           (base != arch::x86_64::kRsp && (base != arch::x86_64::kRbp || !has_frame_pointer_));
  }

  /// A register behind some instructions of a block, from its start on.
  bool is_pointer(const BasicBlock& block, std::span<const SourceInstruction> before,
                  unsigned reg) {
    for (auto source = before.rbegin(); source != before.rend(); ++source) {
      const Encoding& encoding = source->encoding;
      if (!arch::x86_64::effect_on({source->instruction.address, source->code}, reg).changes) {
        continue;
      }
      if (is_wide_move(encoding, 0x8B) && encoding.reg() == reg && encoding.names_memory()) {
        return is_pointer_in(encoding);
      }
      if (is_wide_move(encoding, 0x89) && encoding.names_register() && encoding.rm() == reg) {
        reg = encoding.reg();
        continue;
      }
      if (is_wide_move(encoding, 0x8B) && encoding.names_register() && encoding.reg() == reg) {
        reg = encoding.rm();
        continue;
      }
      return false;
    }
    return is_pointer_at(block.start, reg);
  }

  /// A register at the beginning of a block, on all ways to it.
  bool is_pointer_at(Address start, unsigned reg) {
    if (!seen_.insert({start, reg}).second) {
      return true;
    }
    if (seen_.size() > kMostBlocks || std::binary_search(graph_.table_destinations.begin(),
                                                         graph_.table_destinations.end(), start)) {
      return false;
    }
    bool is_reached = start == bounds_.begin;
    for (const BasicBlock& block : graph_.blocks) {
      const Flow flow = block.last.flow;
      const bool is_call = flow == Flow::call || flow == Flow::indirect_call;
      const bool falls =
          block.last.next() == start && (block.falls_through || flow == Flow::branch || is_call);
      const bool jumps = (flow == Flow::jump || flow == Flow::branch) && block.last.target == start;
      if (!falls && !jumps) {
        continue;
      }
      is_reached = true;
      const auto sources = decode(block);
      const std::size_t count = sources.size() - (is_call && !sources.empty() ? 1U : 0U);
      if (is_call && reg == arch::x86_64::kRax) {
        continue;  // returned
      }
      // Other registers than those that calls preserve hold what a callee's ABI says.
      if (!is_pointer(block, std::span(sources).first(count), reg)) {
        return false;
      }
    }
    return is_reached;
  }

  const core::ControlFlowGraph& graph_;
  core::AddressRange bounds_;
  std::span<const std::byte> code_;
  bool has_frame_pointer_ = false;
  std::set<std::pair<Address, unsigned>> seen_;
};

}  // namespace

bool jumps_through_pointers(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                            std::span<const std::byte> code) {
  PointerSearch search(graph, bounds, code);
  return std::all_of(graph.unresolved.begin(), graph.unresolved.end(),
                     [&](Address jump) { return search.leads_through_pointer(jump); });
}

}  // namespace sp::rewriter
