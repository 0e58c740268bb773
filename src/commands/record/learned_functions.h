#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "profiler/formats/symbols_tsv.h"
#include "supervisor/instruments/code_analysis.h"

namespace sp::record {

/// Which functions of a run cost too much to be traced (--learn).
class LearnedFunctions {
 public:
  using CallCosts = supervisor::CodeAnalysis::CallCosts;
  /// For each file: its functions have indexes there. The kept ones are not to be chosen.
  using Kept = std::vector<std::vector<bool>>;

  /// What was seen since the last decision. Returns the indexes of those that are too costly, by
  /// file. What was not decided is replaced by what the next call chooses.
  [[nodiscard]] std::vector<std::vector<std::size_t>> choose(const std::vector<CallCosts>& files,
                                                             const Kept& kept, core::Duration own,
                                                             double percent, bool is_decided);
  /// Fills in SymbolRow::learned, and what the reason is if it was decided in the run. `identity`:
  /// of the row's file.
  void describe(const std::string& identity, profiler::SymbolRow& row) const;

 private:
  /// Identity and address.
  using Function = std::pair<std::string, std::uint64_t>;
  struct Rule {
    std::uint64_t calls_a_second = 0;
    core::Duration cost{};  // so far
  };
  using Rules = std::map<Function, Rule>;
  [[nodiscard]] std::string text_of(const Rule& rule) const;

  Rules decided_;
  Rules pending_;
  std::map<Function, core::Duration> costs_;  // until the last decision
  core::Duration cost_{};                     // the sum of these
  core::Duration seen_{};                     // and of what was seen since
};

}  // namespace sp::record
