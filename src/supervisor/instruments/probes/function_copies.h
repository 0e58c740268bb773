#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "supervisor/copies/copied_functions.h"
#include "supervisor/copies/copy_use.h"
#include "supervisor/instruments/probes/block_table.h"
#include "supervisor/instruments/probes/probed_function.h"

namespace sp::supervisor {

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
             core::TimePoint now);
  /// The same copy with other landings.
  void replace(CopiedFunctions::Copy copy) { copies_.add(std::move(copy)); }
  /// The function does not run from its copy any more. Call collect() before.
  void end(ProbedFunction& function);

  /// The counter is right by so many more: a thread was put into a copy, or taken out, behind or in
  /// front of where its block is counted.
  void adjust(std::uint64_t counter, int by);
  /// The same for a thread that goes on at `pc` in the original by a landing there.
  void adjust_at(const core::FunctionCopy& copy, core::Address pc, bool is_counted);
  /// Adds what was counted since the last call to the blocks.
  CopyUse collect(BlockTable& blocks, const ReadCounters& read, core::TimePoint now);
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
  };
  struct Counters {
    std::uint64_t first = 0;
    std::vector<Counter> all;
    CopyUse recent;
  };
  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
  /// Of one function, without the cost. Appends how often control arrived at its blocks.
  CopyUse collect(Counters& counters, std::span<const std::uint64_t> values, BlockTable& blocks,
                  std::vector<std::uint64_t>& arrivals, core::TimePoint now) const;
  /// Adds what one counter counted since the last time; returns that.
  static std::uint64_t add(ProbedBlock& block, Counter& counter, std::uint64_t value,
                           core::TimePoint now);

  CopiedFunctions copies_;
  std::unordered_map<std::uint32_t, Counters> counters_;  // by function
  std::unordered_map<std::uint64_t, int> adjustments_;    // by counter
};

}  // namespace sp::supervisor
