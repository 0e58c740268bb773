#pragma once

#include <cstdint>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::core {

/// A function that may be given probes, in ELF virtual addresses.
struct CandidateFunction {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // half open
  /// Where control comes in behind the back of its own code: exception landing pads (LSDA).
  std::vector<std::uint64_t> landing_pads;

  bool operator==(const CandidateFunction&) const = default;
};

/// What is known of a module's code before it is decoded: by begin, no two overlap.
struct InstrumentationCandidates {
  std::vector<CandidateFunction> functions;
  /// Code that is in none of them is to be given probes too, when control comes there.
  bool is_whole = true;
};

/// One basic block of a function: from a place where control may come in to the instruction that
/// transfers it, or to the one before the next such place.
struct BasicBlock {
  Address start;
  std::vector<std::uint8_t> lengths;  // bytes of each instruction
  Instruction last;
  /// It ends because the next instruction is another block's first, one of `unmapped`, or outside
  /// of the function.
  bool falls_through = false;
};

/// A function's blocks as far as they follow from its code alone.
struct ControlFlowGraph {
  std::vector<BasicBlock> blocks;  // by start, no two overlap
  std::vector<Address> unresolved;  // indirect jumps that may go anywhere, also within it
  std::vector<Address> transfers;   // direct calls' and jumps' destinations outside of it
  /// Where control may come to but which no block holds: the middle of another block's instruction,
  /// or bytes that are no instruction that we know. Nothing is to be planted there.
  std::vector<Address> unmapped;
};

}  // namespace sp::core
