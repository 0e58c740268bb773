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
};

struct CountedEdge : CodeProfile::Edge {
  CountedSpan span{};  // of the block that it leaves
};

/// Whether what went into the code came out of it. Counted by ending instruction, because blocks
/// that overlap (a jump behind a lock prefix) share theirs.
struct CodeConsistency {
  std::uint64_t checked = 0;  // ending instructions
  /// Entered and left by more than one apart for each thread of the run.
  std::uint64_t disagreeing = 0;
  /// Entered more often than that and never left: their code ends in a system call that does not
  /// come back (rt_sigreturn, exit).
  std::uint64_t never_left = 0;
  /// Executions that were entered and not seen to be left, in all: threads end somewhere.
  std::uint64_t unfinished = 0;
};

struct CountedCode {
  std::vector<CodeBlock> blocks;  // by start; derive_blocks(): hits are above 0
  /// The counted ones, and those that are derived: a block that ends only because the next
  /// instruction is jumped to goes on there (EdgeFlow::fallthrough).
  std::vector<CountedEdge> edges;
  CodeConsistency consistency;
  std::uint64_t unplaced_hits = 0;  // of edges between addresses that no run or block is at
};

/// Blocks, derived edges and their consistency, from what was counted. `threads` is how many there
/// were in the run. Pure.
[[nodiscard]] CountedCode derive_blocks(const CodeProfile& profile, std::uint64_t threads);

/// Block executions, and instructions: a rep-prefixed one counts once.
[[nodiscard]] std::uint64_t executions(const CountedCode& code);
[[nodiscard]] std::uint64_t executed_instructions(const CountedCode& code);

}  // namespace sp::profiler
