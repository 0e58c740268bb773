#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "supervisor/breakpoints/edge_flow.h"
#include "supervisor/instruments/probes/function_copies.h"

// Jumps by tables, of which copies have some of their own.
namespace sp::supervisor {

void FunctionCopies::add_tables(const core::FunctionCopy& copy, const BlockTable& blocks,
                                Counters& counters) {
  for (const core::CopiedTable& table : copy.tables) {
    Counter& counter = counters.all[table.block];
    counter.has_table = true;
    if (counter.block != kNoBlock && !blocks[counter.block].edges_until) {
      counters.tables.push_back({counter.block, blocks[counter.block].last,
                                 (table.counter - counters.first) / sizeof(std::uint64_t),
                                 table.destinations,
                                 std::vector<std::uint64_t>(table.destinations->size())});
    }
  }
}

void FunctionCopies::collect_tables(Counters& counters, std::span<const std::uint64_t> values,
                                    core::TimePoint now) {
  for (Entries& entries : counters.tables) {
    for (std::size_t i = 0; i < entries.to->size() && entries.first + i < values.size(); ++i) {
      const std::uint64_t value = values[entries.first + i];
      const auto more = static_cast<std::int64_t>(value - entries.taken[i]);
      const core::Address to = (*entries.to)[i];
      if (more == 0) {
        continue;
      }
      entries.taken[i] = value;
      EdgeCounts::Edge& edge = edges_.at(entries.from.address, to, edge_flow(entries.from, to));
      if (more < 0) {  // a thread went back in front of the jump
        edge.hits -= std::min(edge.hits, static_cast<std::uint64_t>(-more));
        continue;
      }
      if (edge.last == core::TimePoint{}) {
        new_targets_.insert(to);
      }
      EdgeCounts::count(edge, now, static_cast<std::uint64_t>(more));
    }
  }
}

}  // namespace sp::supervisor
