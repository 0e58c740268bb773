#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/clock.h"
#include "core/coverage.h"
#include "supervisor/instruments/code_analysis.h"

namespace sp::supervisor {

/// The code of one file that is known to have been executed: ranges of ELF addresses, each from
/// the start of a block to its end. Pure.
class ReachedRanges {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool contains(std::uint64_t address) const;
  [[nodiscard]] bool has_any_in(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] bool empty() const { return ends_.empty(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by begin; no two touch each other
};

/// A file of which coverage is wanted.
struct CoveredFile {
  ReachedRanges reached;  // in the run so far, by any process, and before it (--coverage-known)
  std::set<std::uint64_t> told;  // the begins of functions that the profiler knows of
  /// How often indirect jumps with unknown destinations were seen, by their ELF addresses.
  std::map<std::uint64_t, std::uint64_t> watched_jumps{};
};

/// What --coverage shares between the processes of a run: what one of them has reached needs no
/// probe in the next.
class RunCoverage {
 public:
  explicit RunCoverage(core::Coverage wanted) : wanted_(wanted) {}

  [[nodiscard]] core::Coverage wanted() const { return wanted_; }
  /// How often something was reached for the first time in the run.
  [[nodiscard]] std::uint64_t& news() { return news_; }
  /// What finding out where jumps lead has taken, in hits.
  [[nodiscard]] core::Duration& analysed() { return analysed_; }
  /// How long processes have waited for what is found out in the background.
  [[nodiscard]] core::Duration& waited() { return waited_; }
  /// Asks `analysis` what was reached before the run, the first time.
  [[nodiscard]] CoveredFile& file(const CodeAnalysis::File& file, CodeAnalysis& analysis);

 private:
  core::Coverage wanted_;
  std::uint64_t news_ = 0;
  core::Duration waited_{};
  core::Duration analysed_{};
  std::map<std::string, CoveredFile> files_;
};

}  // namespace sp::supervisor
