#include "analyzer/control_flow_graph.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/jump_table_recovery.h"
#include "analyzer/recursive_descent.h"

namespace sp::analyzer {
namespace {

using Offset = RecursiveDescent::Offset;

/// Each pass but the last rejects at least one speculation. The last pass recovers no jump tables.
constexpr int kMostPasses = 12;

std::vector<std::byte> read_all(core::AddressRange bounds, const ReadCode& read) {
  std::vector<std::byte> code(bounds.size());
  code.resize(std::min(code.size(), read(bounds.begin, code)));
  return code;
}

/// The block that begins at a leader.
core::BasicBlock cut_block(const RecursiveDescent& descent, Offset start) {
  core::BasicBlock block;
  block.start = descent.address_of(start);
  Offset last = start;
  Offset next = start;
  do {
    last = next;
    block.lengths.push_back(descent.length_at(last));
    next = last + block.lengths.back();
  } while (!core::ends_block(descent.flow_at(last)) && descent.is_instruction(next) &&
           !descent.is_leader(next));
  block.last = descent.decode_at(last).value_or(core::Instruction{});
  block.falls_through = !core::ends_block(descent.flow_at(last));
  return block;
}

void sort_unique(std::vector<core::Address>& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

using Resolved = std::map<Offset, ResolvedJump>;

/// Follows the tables of indirect jumps, which may lead to further jumps. A table's bound depends
/// on the paths to its jump, so each round first follows all known code; reject_doubtful() checks
/// the results again at the end.
Resolved follow_tables(RecursiveDescent& descent, const RecursiveDescent::Rejected& rejected,
                       const ReadCode& read) {
  Resolved resolved;
  SearchBudget budget;
  for (bool found = true; found;) {
    found = false;
    descent.run();
    if (descent.indirect_jumps().size() == resolved.size()) {
      break;
    }
    JumpTableRecovery recovery(descent, read, budget);
    Resolved fresh;
    for (const Offset jump : descent.indirect_jumps()) {
      if (resolved.contains(jump) || rejected.contains(jump)) {
        continue;
      }
      if (auto resolved_jump = recovery.resolve(jump)) {
        fresh.emplace(jump, std::move(*resolved_jump));
      }
    }
    for (const auto& [jump, resolved_jump] : fresh) {
      descent.follow_table(jump, resolved_jump.destinations);
      found = true;
    }
    resolved.merge(fresh);
  }
  return resolved;
}

void reject_doubtful(RecursiveDescent& descent, const Resolved& resolved, const ReadCode& read) {
  if (resolved.empty()) {
    return;
  }
  SearchBudget budget;
  JumpTableRecovery recovery(descent, read, budget);
  for (const auto& [jump, first] : resolved) {
    const auto again = recovery.resolve(jump);
    // A table within which another one begins has fewer entries than its bounds check allows.
    const bool runs_into_another =
        std::any_of(resolved.begin(), resolved.end(), [&table = first.table](const auto& other) {
          return table.begin < other.second.table.begin && other.second.table.begin < table.end;
        });
    if (again != first || runs_into_another) {
      descent.reject_table(jump);
    }
  }
}

core::ControlFlowGraph graph_of(const RecursiveDescent& descent, const Resolved& resolved) {
  core::ControlFlowGraph graph;
  const auto size = static_cast<Offset>(descent.bounds().size());
  for (Offset at = 0; at < size;) {
    if (!descent.is_instruction(at)) {
      ++at;
      continue;
    }
    graph.blocks.push_back(cut_block(descent, at));
    at = static_cast<Offset>(graph.blocks.back().last.next() - descent.bounds().begin);
  }
  for (const Offset jump : descent.indirect_jumps()) {
    if (!resolved.contains(jump)) {
      graph.unresolved.push_back(descent.address_of(jump));
    }
  }
  for (const auto& [jump, resolved_jump] : resolved) {
    graph.table_destinations.insert(graph.table_destinations.end(),
                                    resolved_jump.destinations.begin(),
                                    resolved_jump.destinations.end());
  }
  sort_unique(graph.table_destinations);
  graph.transfers = descent.transfers();
  graph.unmapped = descent.unmapped();
  sort_unique(graph.unresolved);
  sort_unique(graph.transfers);
  sort_unique(graph.unmapped);
  return graph;
}

}  // namespace

core::ControlFlowGraph build_control_flow_graph(core::AddressRange bounds,
                                                std::span<const core::Address> leaders,
                                                const ReadCode& read) {
  if (bounds.end <= bounds.begin || bounds.size() > kLargestFunction) {
    return {};
  }
  const std::vector<std::byte> code = read_all(bounds, read);
  RecursiveDescent::Rejected rejected;
  for (int pass = 1;; ++pass) {
    RecursiveDescent descent(bounds, code, rejected);
    for (const core::Address leader : leaders) {
      descent.follow_leader(leader);
    }
    Resolved resolved;
    if (pass < kMostPasses) {
      resolved = follow_tables(descent, rejected, read);
      reject_doubtful(descent, resolved, read);
    }
    if (descent.newly_rejected().empty()) {
      return graph_of(descent, resolved);
    }
    rejected.insert(descent.newly_rejected().begin(), descent.newly_rejected().end());
  }
}

}  // namespace sp::analyzer
