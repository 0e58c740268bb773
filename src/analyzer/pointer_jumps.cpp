#include "analyzer/pointer_jumps.h"

#include <algorithm>
#include <set>
#include <utility>

#include "arch/x86_64/pointer_source.h"

namespace sp::analyzer {
namespace {

using arch::x86_64::RegisterSource;
using core::Address;
using core::BasicBlock;
using core::Flow;

constexpr unsigned kRax = 0;

/// Follows a register backwards from a jump.
class Search {
 public:
  Search(const core::ControlFlowGraph& graph, core::AddressRange bounds,
         std::span<const std::byte> code)
      : graph_(graph), bounds_(bounds), code_(code) {}

  bool is_pointer(Address jump) {
    const BasicBlock* const block = block_ending_at(jump);
    const auto source = arch::x86_64::jump_source(bytes_at(jump));
    if (block == nullptr || !source) {
      return false;
    }
    seen_.clear();
    return source->is_memory || is_pointer_before(*block, block->lengths.size() - 1, source->reg);
  }

 private:
  /// The register holds a pointer in front of the block's instruction with this number.
  bool is_pointer_before(const BasicBlock& block, std::size_t instruction, unsigned reg) {
    std::vector<Address> starts;
    Address at = block.start;
    for (std::size_t i = 0; i < instruction; ++i) {
      starts.push_back(at);
      at = at + block.lengths[i];
    }
    for (auto start = starts.rbegin(); start != starts.rend(); ++start) {
      const auto written = arch::x86_64::written_from(bytes_at(*start), reg);
      switch (written.source) {
        case RegisterSource::memory:
          return true;
        case RegisterSource::computed:
          return false;
        case RegisterSource::other_register:
          reg = written.reg;
          break;
        case RegisterSource::unchanged:
          break;
      }
    }
    return is_pointer_at_start(block, reg);
  }

  bool is_pointer_at_start(const BasicBlock& block, unsigned reg) {
    constexpr std::size_t kMost = 200;
    if (!seen_.insert({block.start, reg}).second) {
      return true;  // decided elsewhere
    }
    if (seen_.size() > kMost) {
      return false;
    }
    // At the function's entry it comes from the caller. Where no edge is known a table or an
    // unwinder may lead here: the register may hold anything.
    bool is_reached = block.start == bounds_.begin;
    const bool is_in_table = std::binary_search(graph_.table_destinations.begin(),
                                                graph_.table_destinations.end(), block.start);
    for (const BasicBlock& other : graph_.blocks) {
      const Address end = other.last.next();
      const bool is_behind_call = end == block.start && (other.last.flow == Flow::call ||
                                                         other.last.flow == Flow::indirect_call);
      if (is_behind_call) {
        is_reached = true;
        if (reg != kRax && !is_pointer_before(other, other.lengths.size(), reg)) {
          return false;
        }
        continue;
      }
      const bool falls =
          end == block.start && (other.falls_through || other.last.flow == Flow::branch ||
                                 other.last.flow == Flow::syscall || other.last.flow == Flow::next);
      const bool jumps = other.last.target == block.start && other.last.flow != Flow::call;
      const bool may_jump = is_in_table && other.last.flow == Flow::indirect_jump;
      if (!falls && !jumps && !may_jump) {
        continue;
      }
      is_reached = true;
      if (!is_pointer_before(other, other.lengths.size(), reg)) {
        return false;
      }
    }
    return is_reached;
  }

  const BasicBlock* block_ending_at(Address jump) const {
    const auto found =
        std::find_if(graph_.blocks.begin(), graph_.blocks.end(),
                     [&](const BasicBlock& block) { return block.last.address == jump; });
    return found != graph_.blocks.end() ? &*found : nullptr;
  }

  std::span<const std::byte> bytes_at(Address address) const {
    return code_.subspan(address - bounds_.begin);
  }

  const core::ControlFlowGraph& graph_;
  core::AddressRange bounds_;
  std::span<const std::byte> code_;
  std::set<std::pair<Address, unsigned>> seen_;
};

}  // namespace

bool jumps_to_pointers(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                       std::span<const std::byte> code) {
  Search search(graph, bounds, code);
  return std::all_of(graph.unresolved.begin(), graph.unresolved.end(),
                     [&](Address jump) { return search.is_pointer(jump); });
}

}  // namespace sp::analyzer
