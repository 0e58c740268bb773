#include "rewriter/jump_targets.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "rewriter/cpu.h"

namespace sp::rewriter {
namespace {

using arch::PointerSource;
using Kind = PointerSource::Kind;
using core::Address;
using core::BasicBlock;
using core::Flow;
using cpu::SourceInstruction;

constexpr std::size_t kMostBlocks = 64;

class PointerSearch {
 public:
  PointerSearch(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                std::span<const std::byte> code)
      : graph_(graph), bounds_(bounds), code_(code) {
    for (const BasicBlock& block : graph.blocks) {
      for (const SourceInstruction& source : decode(block)) {
        has_frame_pointer_ = has_frame_pointer_ || cpu::sets_frame_pointer(source);
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
    const PointerSource to = cpu::jump_source(sources.back(), has_frame_pointer_);
    if (to.kind != Kind::copied) {
      return to.kind == Kind::pointer;
    }
    seen_.clear();
    const auto before = std::span(sources).first(sources.size() - 1);
    return cpu::leaves_frame(before, to.from) || is_pointer(*block, before, to.from);
  }

 private:
  std::vector<SourceInstruction> decode(const BasicBlock& block) const {
    std::vector<SourceInstruction> sources;
    Address at = block.start;
    for (const std::uint8_t length : block.lengths) {
      if (!bounds_.contains(at)) {
        return {};
      }
      const auto source = cpu::read_instruction(code_.subspan(at - bounds_.begin), at);
      if (!source) {
        return {};
      }
      sources.push_back(*source);
      at = at + length;
    }
    return sources;
  }

  /// A register behind some instructions of a block, from its start on.
  bool is_pointer(const BasicBlock& block, std::span<const SourceInstruction> before,
                  unsigned reg) {
    for (auto source = before.rbegin(); source != before.rend(); ++source) {
      const PointerSource from = cpu::source_of(*source, reg, has_frame_pointer_);
      if (from.kind == Kind::pointer || from.kind == Kind::computed) {
        return from.kind == Kind::pointer;
      }
      reg = from.kind == Kind::copied ? from.from : reg;
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
      if (is_call && reg == cpu::kResultRegister) {
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
