#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clock.h"
#include "profiler/code_profile.h"
#include "profiler/counted_span.h"

namespace sp::profiler {

/// A maximal straight run of executed instructions with one entry and one exit.
struct CodeBlock {
  core::ModuleOffset start;
  std::uint64_t last = 0;  // offset of its last instruction
  std::uint32_t size = 0;  // bytes
  std::uint32_t instructions = 0;
  std::uint64_t hits = 0;
  core::TimePoint first_hit;
  core::TimePoint last_hit;
  CountedSpan span{};
  bool is_jumped_to = false;  // core::ProbedBlock's
};

struct CountedEdge : CodeProfile::Edge {
  CountedSpan span{};  // of the block that it leaves, or the part of it in which edges are counted
};

/// Compares how often blocks were entered and left. Grouped by last instruction, because
/// overlapping blocks (a jump past a lock prefix) share it.
struct CodeConsistency {
  std::uint64_t checked = 0;  // last instructions
  /// The two counts differ by more than the number of threads of the run.
  std::uint64_t disagreeing = 0;
  /// Entered more often than that and never left: the block ends in a system call that does not
  /// return (rt_sigreturn, exit).
  std::uint64_t never_left = 0;
  /// Executions that were entered but not left, in all: each thread ends somewhere.
  std::uint64_t unfinished = 0;
};

struct CountedCode {
  std::vector<CodeBlock> blocks;  // by start; derive_blocks(): hits are above 0
  /// The counted edges, and a derived one for each block that ends only because the next
  /// instruction is a jump target (EdgeFlow::fallthrough).
  std::vector<CountedEdge> edges;
  CodeConsistency consistency;
  std::uint64_t unplaced_hits = 0;  // of edges to or from addresses outside all runs and blocks
};

/// Derives blocks, fall-through edges and their consistency from counted edges. `threads` is the
/// number of threads in the run. `may_leave`: threads come from and go to where nothing is
/// counted (--toggle-collect), so that there is no consistency to check. Pure.
[[nodiscard]] CountedCode derive_blocks(const CodeProfile& profile, std::uint64_t threads,
                                        bool may_leave = false);

/// Block executions, and instructions: a rep-prefixed one counts once.
[[nodiscard]] std::uint64_t executions(const CountedCode& code);
[[nodiscard]] std::uint64_t executed_instructions(const CountedCode& code);

}  // namespace sp::profiler
