#include "analyzer/control_flow_graph.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analyzer/jump_table_recovery.h"
#include "analyzer/recursive_descent.h"
#include "analyzer/table_reader.h"

namespace sp::analyzer {
namespace {

using Offset = RecursiveDescent::Offset;

/// Each pass but the last rejects at least one speculation, or finds that a table is shorter. The
/// last pass recovers no jump tables.
constexpr int kMostPasses = 12;
constexpr int kMostPassesWithHints = 20;

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
  block.last.flow = descent.flow_at(last);
  block.falls_through = !core::ends_block(descent.flow_at(last));
  return block;
}

/// core::BasicBlock::is_unlocked. What is behind it begins a block.
core::BasicBlock without_lock(const RecursiveDescent& descent, Offset at) {
  core::BasicBlock block;
  block.start = descent.address_of(at);
  block.last = descent.decode_at(at).value_or(core::Instruction{});
  block.lengths = {block.last.length};
  block.falls_through = true;
  block.is_unlocked = true;
  return block;
}

void sort_unique(std::vector<core::Address>& addresses) {
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

using Resolved = std::map<Offset, ResolvedJump>;

/// One pass over a function.
struct Pass {
  RecursiveDescent& descent;
  const RecursiveDescent::Rejected& rejected;
  const ReadCode& read;
  KnownTables& tables;
};

SearchBudget budget_of(const Pass& pass) {
  return {pass.tables.hints != nullptr ? SearchBudget::kLarge : SearchBudget::kUsual};
}

/// Where the jumps go that are not resolved yet, or all.
Resolved find_tables(Pass& pass, SearchBudget& budget, const Resolved* but) {
  using Proof = JumpTableRecovery::Proof;
  JumpTableRecovery recovery(pass.descent, budget,
                             pass.tables.hints != nullptr ? Proof::guesses : Proof::usual);
  std::vector<std::pair<Offset, arch::JumpTable>> found;
  for (const Offset jump : pass.descent.indirect_jumps()) {
    if ((but != nullptr && but->contains(jump)) || pass.rejected.contains(jump)) {
      continue;
    }
    if (const auto table = recovery.find(jump)) {
      found.emplace_back(jump, *table);
      pass.tables.starts.insert(table->first);
    }
  }
  const TableReader reader(pass.descent, pass.read, pass.tables);
  Resolved resolved;
  for (const auto& [jump, table] : found) {
    if (auto resolved_jump = reader.read(jump, table)) {
      resolved.emplace(jump, std::move(*resolved_jump));
    }
  }
  return resolved;
}

/// Follows the tables of indirect jumps, which may lead to further jumps. A table's bound depends
/// on the paths to its jump, so each round first follows all known code; reject_doubtful() checks
/// the results again at the end.
Resolved follow_tables(Pass& pass) {
  Resolved resolved;
  SearchBudget budget = budget_of(pass);
  for (bool found = true; found;) {
    found = false;
    pass.descent.run();
    if (pass.descent.indirect_jumps().size() == resolved.size()) {
      break;
    }
    Resolved fresh = find_tables(pass, budget, &resolved);
    for (const auto& [jump, resolved_jump] : fresh) {
      pass.descent.follow_table(jump, resolved_jump.destinations, resolved_jump.is_whole);
      found = true;
    }
    resolved.merge(fresh);
  }
  return resolved;
}

void reject_doubtful(Pass& pass, const Resolved& resolved) {
  if (resolved.empty()) {
    return;
  }
  SearchBudget budget = budget_of(pass);
  const Resolved again = find_tables(pass, budget, nullptr);
  for (const auto& [jump, first] : resolved) {
    // A table within which another one begins has fewer entries than its bounds check allows.
    const bool runs_into_another =
        std::any_of(resolved.begin(), resolved.end(), [&table = first.table](const auto& other) {
          return table.begin < other.second.table.begin && other.second.table.begin < table.end;
        });
    const auto second = again.find(jump);
    if (second == again.end() || second->second != first || runs_into_another) {
      pass.descent.reject_table(jump);
    }
  }
}

/// The table of a rejected jump may have been read too far. Where it may end earlier, the next pass
/// tries that. False if there is no such place.
bool shorten(Offset jump, const Resolved& resolved, KnownTables& tables) {
  const auto found = resolved.find(jump);
  if (tables.hints == nullptr || found == resolved.end()) {
    return false;
  }
  const core::AddressRange& table = found->second.table;
  const core::AddressRange within{table.begin + 1, table.end};
  const auto start = tables.starts.lower_bound(within.end);
  const bool has_start = start != tables.starts.begin() && *std::prev(start) >= within.begin;
  if (has_start) {
    return true;  // found later in this pass
  }
  const auto end = tables.hints->last_data_in(within);
  if (end) {
    tables.ends[jump] = *end;
  }
  return end.has_value();
}

bool shorten_all(const RecursiveDescent::Rejected& jumps, const Resolved& resolved,
                 KnownTables& tables) {
  return std::count_if(jumps.begin(), jumps.end(),
                       [&](Offset jump) { return shorten(jump, resolved, tables); }) > 0;
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
    const Offset begin = at;
    at = static_cast<Offset>(graph.blocks.back().last.next() - descent.bounds().begin);
    if (descent.unlocked().contains(begin + 1)) {
      graph.blocks.push_back(without_lock(descent, begin + 1));
    }
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

/// The tables that copies of the function may have copies of.
void add_tables(Pass& pass, core::ControlFlowGraph& graph) {
  if (pass.descent.indirect_jumps().empty()) {
    return;
  }
  SearchBudget budget;
  JumpTableRecovery recovery(pass.descent, budget, JumpTableRecovery::Proof::certain);
  std::vector<std::pair<arch::JumpTable, core::BranchTable::Destinations>> known;
  for (const Offset jump : pass.descent.indirect_jumps()) {
    const auto table = recovery.find(jump);
    const auto load = table ? recovery.find_load(jump, *table) : std::nullopt;
    if (!load) {
      continue;
    }
    auto entries = std::find_if(known.begin(), known.end(),
                                [&](const auto& one) { return one.first == *table; });
    if (entries == known.end()) {
      auto read = read_entries(*table, pass.read);
      entries = known.insert(
          known.end(),
          {*table,
           read ? std::make_shared<const std::vector<core::Address>>(*std::move(read)) : nullptr});
    }
    if (entries->second != nullptr) {
      graph.tables.push_back({pass.descent.address_of(jump), pass.descent.address_of(*load),
                              table->first, table->entry_size, entries->second});
    }
  }
  std::sort(graph.tables.begin(), graph.tables.end(),
            [](const auto& left, const auto& right) { return left.jump < right.jump; });
}

}  // namespace

core::ControlFlowGraph build_control_flow_graph(core::AddressRange bounds,
                                                std::span<const core::Address> leaders,
                                                const ReadCode& read,
                                                const core::TableHints* hints) {
  if (bounds.end <= bounds.begin || bounds.size() > kLargestFunction) {
    return {};
  }
  const std::vector<std::byte> code = read_all(bounds, read);
  RecursiveDescent::Rejected rejected;
  KnownTables tables{hints, {}, {}};
  const int most_passes = hints != nullptr ? kMostPassesWithHints : kMostPasses;
  for (int number = 1;; ++number) {
    RecursiveDescent descent(bounds, code, rejected);
    Pass pass{descent, rejected, read, tables};
    for (const core::Address leader : leaders) {
      descent.follow_leader(leader);
    }
    Resolved resolved;
    if (number < most_passes) {
      resolved = follow_tables(pass);
      reject_doubtful(pass, resolved);
    }
    if (descent.newly_rejected().empty()) {
      core::ControlFlowGraph graph = graph_of(descent, resolved);
      add_tables(pass, graph);
      return graph;
    }
    // What a table that was read too far contradicts may be right.
    const bool is_shorter = shorten_all(descent.newly_rejected(), resolved, tables);
    if (!is_shorter || number >= most_passes) {
      rejected.insert(descent.newly_rejected().begin(), descent.newly_rejected().end());
    }
  }
}

}  // namespace sp::analyzer
