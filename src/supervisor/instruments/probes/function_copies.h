#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/code_counts.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/copies/copied_functions.h"
#include "supervisor/copies/copy_use.h"
#include "supervisor/copies/counter_slots.h"
#include "supervisor/copies/thread_moves.h"
#include "supervisor/instruments/probes/block_table.h"
#include "supervisor/instruments/probes/copied_ways.h"
#include "supervisor/instruments/probes/probed_function.h"

namespace sp::supervisor {

/// How a function begins to run from its copy.
struct CopyBegin {
  core::TimePoint at;
  bool counts_entry_alone = false;  // else all blocks, and edges
};

/// The functions of one address space that run from copies, and what the copies have counted of
/// their blocks. Pure.
class FunctionCopies {
 public:
  /// The sums over all threads of so many counters in a row; see core::CopiedBlock::counter.
  using ReadCounters =
      std::function<std::vector<std::uint64_t>(std::uint64_t first, std::uint32_t count)>;

  [[nodiscard]] const CopiedFunctions& all() const { return copies_; }
  /// From now on the function's blocks are counted by the copy, but for those whose counts ended.
  /// The copy's counters are at 0.
  void begin(ProbedFunction& function, CopiedFunctions::Copy copy, BlockTable& blocks,
             const CopyBegin& how);
  /// The same copy with other landings.
  void replace(CopiedFunctions::Copy copy) { copies_.add(std::move(copy)); }
  /// The function does not run from its copy any more. Call collect() before.
  void end(ProbedFunction& function);

  /// A thread was put into a copy or taken out.
  void correct(const CountCorrection& correction);
  /// A thread has come to the leader there, in the original, and is put into the copy.
  void note_arrival(const core::FunctionCopy& copy, core::Address leader);
  /// A thread goes on within a block, in the original: whether and how it leaves it is not known.
  void end_edges_of(const core::FunctionCopy& copy, core::Address pc, BlockTable& blocks,
                    core::TimePoint now);
  /// Control has gone from the end of a block to another one in the original.
  void count_edge(core::Address from, core::Address to, core::EdgeFlow flow, core::TimePoint now) {
    EdgeCounts::count(edges_.at(from, to, flow), now);
  }
  /// Copies have counted transfers: so often control went from the block with that counter to the
  /// target.
  void add_transfers(std::span<const CounterSlots::Transfers> transfers, const BlockTable& blocks,
                     core::TimePoint now);
  /// Where transfers have led for the first time since the last call.
  [[nodiscard]] std::set<core::Address> take_new_targets() {
    return std::exchange(new_targets_, {});
  }
  [[nodiscard]] bool is_new_target(core::Address at) const { return new_targets_.contains(at); }
  /// The code that was there is gone.
  void forget_targets(core::AddressRange range) {
    new_targets_.erase(new_targets_.lower_bound(range.begin), new_targets_.lower_bound(range.end));
  }
  /// Some were lost: those since `seen` are not all known.
  void end_transfers(BlockTable& blocks, core::TimePoint seen);
  /// No thread runs in the function any more: it is unmapped.
  void come_to_rest(const ProbedFunction& function);
  /// Adds what was counted since the last call to the blocks, and to the edges. `in_blocks`: so
  /// many threads may be within blocks that are counted and not left.
  CopyUse collect(BlockTable& blocks, const ReadCounters& read, core::TimePoint now,
                  std::uint64_t in_blocks);
  /// The edges since the last call.
  [[nodiscard]] std::vector<EdgeCounts::Edge> take_edges() { return edges_.take(); }
  /// What collect() has found of each function since the last call.
  struct FunctionUse {
    std::uint32_t function = 0;
    CopyUse use;
  };
  [[nodiscard]] std::vector<FunctionUse> take_uses();

 private:
  struct Counter {
    std::uint64_t taken = 0;  // of its value
    std::uint32_t block = 0;  // number; kNoBlock: it is not counted
    bool is_arrival = false;  // control comes to the block by a jump in the original
    bool emulates_call = false;
    bool counts_transfer = false;
    bool saves_flags = false;
    bool has_table = false;    // of the copy's own, for its transfer
    std::uint64_t events = 0;  // that the copy writes with each execution
  };
  /// The ways on from a block by a core::CopiedTable, and how often each is in the edges.
  struct Entries {
    std::uint32_t block = 0;  // number
    core::Instruction from;
    std::size_t first = 0;  // index among the counters
    core::BranchTable::Destinations to;
    std::vector<std::uint64_t> taken;
  };
  struct Counters {
    std::uint64_t first = 0;
    std::vector<Counter> all;       // of the blocks
    std::uint32_t of_branches = 0;  // behind them, and of tables
    std::uint64_t branches = 0;     // their sum
    std::vector<CopiedWays> ways;
    std::vector<Entries> tables;
    CopyUse recent;
    bool is_still = false;  // no thread runs in it
  };
  /// How far counters are from what they mean; see CountCorrection.
  struct Correction {
    int executions = 0;
    int arrivals = 0;
    int departures = 0;
  };
  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
  /// A counter's executions, and for the others of CountCorrection see there.
  [[nodiscard]] Correction correction_of(std::uint64_t counter) const;
  void collect_edges(Counters& counters, std::span<const std::uint64_t> values, core::TimePoint now,
                     std::uint64_t in_blocks);
  static void add_tables(const core::FunctionCopy& copy, const BlockTable& blocks,
                         Counters& counters);
  void collect_tables(Counters& counters, std::span<const std::uint64_t> values,
                      core::TimePoint now);
  /// Of one function, without the cost. Appends how often control arrived at its blocks.
  static CopyUse collect(Counters& counters, std::span<const std::uint64_t> values,
                         BlockTable& blocks, std::vector<std::uint64_t>& arrivals,
                         core::TimePoint now);
  void add(core::Address from, CopiedWays::Way& way, std::int64_t count, core::TimePoint now);
  /// Adds what one counter counted since the last time; returns that.
  static std::uint64_t add(ProbedBlock& block, Counter& counter, std::uint64_t value,
                           core::TimePoint now);

  CopiedFunctions copies_;
  std::unordered_map<std::uint32_t, Counters> counters_;       // by function
  std::map<std::uint64_t, std::uint32_t> function_at_;         // by its first counter
  std::unordered_map<std::uint64_t, Correction> corrections_;  // by counter
  EdgeCounts edges_;
  std::set<core::Address> new_targets_;
};

}  // namespace sp::supervisor
