#include "analyzer/control_flow_graph.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/recursive_descent.h"
#include "analyzer/jump_table_recovery.h"

namespace sp::analyzer {
namespace {

using Offset = CodeWalk::Offset;

/// Each pass but the last finds at least one wrong conjecture; code that goes on so is left with
/// what is certain.
constexpr int kMostPasses = 12;

std::vector<std::byte> read_all(core::AddressRange bounds, const ReadCode& read) {
  std::vector<std::byte> code(bounds.size());
  code.resize(std::min(code.size(), read(bounds.begin, code)));
  return code;
}

/// The block that begins at a leader.
core::BasicBlock cut_block(const CodeWalk& walk, Offset start) {
  core::BasicBlock block;
  block.start = walk.address_of(start);
  Offset last = start;
  Offset next = start;
  do {
    last = next;
    block.lengths.push_back(walk.length_at(last));
    next = last + block.lengths.back();
  } while (!core::ends_block(walk.flow_at(last)) && walk.is_instruction(next) &&
           !walk.is_leader(next));
  block.last = walk.decode_at(last).value_or(core::Instruction{});
  block.falls_through = !core::ends_block(walk.flow_at(last));
  return block;
}

void sort_out(std::vector<core::Address>& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

using Resolved = std::map<Offset, ResolvedJump>;

/// Follows the tables of indirect jumps, which may lead to further jumps. Whether a table has a
/// bound depends on the ways to its jump, so nothing is asked before all that is known has been
/// followed, and everything once more when nothing new is found.
Resolved follow_tables(CodeWalk& walk, const CodeWalk::Rejected& rejected, const ReadCode& read) {
  Resolved resolved;
  SearchBudget budget;
  for (bool found = true; found;) {
    found = false;
    walk.run();
    if (walk.indirect_jumps().size() == resolved.size()) {
      break;
    }
    JumpResolver resolver(walk, read, budget);
    Resolved fresh;
    for (const Offset jump : walk.indirect_jumps()) {
      if (resolved.contains(jump) || rejected.contains(jump)) {
        continue;
      }
      if (auto way = resolver.resolve(jump)) {
        fresh.emplace(jump, std::move(*way));
      }
    }
    for (const auto& [jump, way] : fresh) {
      walk.follow_table(jump, way.destinations);
      found = true;
    }
    resolved.merge(fresh);
  }
  return resolved;
}

void reject_doubtful(CodeWalk& walk, const Resolved& resolved, const ReadCode& read) {
  if (resolved.empty()) {
    return;
  }
  SearchBudget budget;
  JumpResolver resolver(walk, read, budget);
  for (const auto& [jump, way] : resolved) {
    const auto again = resolver.resolve(jump);
    // A table that another one begins in has fewer entries than the check before it allows.
    const bool runs_into_another =
        std::any_of(resolved.begin(), resolved.end(), [&way = way](const auto& other) {
          return way.table.begin < other.second.table.begin &&
                 other.second.table.begin < way.table.end;
        });
    if (again != way || runs_into_another) {
      walk.reject_table(jump);
    }
  }
}

core::ControlFlowGraph map_of(const CodeWalk& walk, const Resolved& resolved) {
  core::ControlFlowGraph map;
  const auto size = static_cast<Offset>(walk.bounds().size());
  for (Offset at = 0; at < size;) {
    if (!walk.is_instruction(at)) {
      ++at;
      continue;
    }
    map.blocks.push_back(cut_block(walk, at));
    at = static_cast<Offset>(map.blocks.back().last.next() - walk.bounds().begin);
  }
  for (const Offset jump : walk.indirect_jumps()) {
    if (!resolved.contains(jump)) {
      map.unresolved.push_back(walk.address_of(jump));
    }
  }
  map.transfers = walk.transfers();
  map.unmapped = walk.unmapped();
  sort_out(map.unresolved);
  sort_out(map.transfers);
  sort_out(map.unmapped);
  return map;
}

}  // namespace

core::ControlFlowGraph build_control_flow_graph(core::AddressRange bounds, std::span<const core::Address> leaders,
                               const ReadCode& read) {
  if (bounds.end <= bounds.begin || bounds.size() > kLargestFunction) {
    return {};
  }
  const std::vector<std::byte> code = read_all(bounds, read);
  CodeWalk::Rejected rejected;
  for (int pass = 1;; ++pass) {
    CodeWalk walk(bounds, code, rejected);
    for (const core::Address leader : leaders) {
      walk.follow_leader(leader);
    }
    Resolved resolved;
    if (pass < kMostPasses) {
      resolved = follow_tables(walk, rejected, read);
      reject_doubtful(walk, resolved, read);
    }
    if (walk.newly_rejected().empty()) {
      return map_of(walk, resolved);
    }
    rejected.insert(walk.newly_rejected().begin(), walk.newly_rejected().end());
  }
}

}  // namespace sp::analyzer
