#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::core {

/// A function that may be instrumented, in ELF virtual addresses.
struct CandidateFunction {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // half open
  /// Exception landing pads (LSDA), which the unwinder enters and no instruction branches to.
  std::vector<std::uint64_t> landing_pads;
  /// A part of another one, which jumps to it: what compilers call NAME.cold.
  bool is_part = false;
  /// False if neither a symbol's size nor an unwind entry gives `end`, which is then where the next
  /// function begins or the section ends.
  bool has_known_end = true;
  /// An IFUNC's: it returns the address of the function that is to be called.
  bool is_resolver = false;

  bool operator==(const CandidateFunction&) const = default;
};

/// The functions of a module that may be instrumented, found without decoding its code. Sorted by
/// begin; no two overlap.
struct InstrumentationCandidates {
  std::vector<CandidateFunction> functions;
  /// Code outside of these functions is instrumented too, once control reaches it.
  bool is_whole = true;
  /// What these call in the module returns a second time when longjmp comes there (setjmp):
  /// addresses, sorted. Looked for where calls are traced.
  std::vector<std::uint64_t> returning_twice{};
};

/// One basic block of a function: from a leader to the instruction that transfers control, or to
/// the one before the next leader.
struct BasicBlock {
  Address start;
  std::vector<std::uint8_t> lengths;  // bytes of each instruction
  Instruction last;
  /// It ends because the next instruction starts another block, is one of `unmapped`, or lies
  /// outside of the function.
  bool falls_through = false;
  /// A branch leads behind the lock prefix of the one instruction of the block before, and so here:
  /// the same instruction without it. No breakpoint may be inserted. Control that comes to the
  /// block before does not come here.
  bool is_unlocked = false;
  /// Cut off the block in front, out of which alone control comes here.
  bool is_cut = false;
};

/// A jump table of which it is certain where it is and how many entries the jump may read, be they
/// the program's or what lies behind those.
struct BranchTable {
  Address jump;
  Address load;  // of the instruction that reads entry N at `first` + entry_size * N, by register N
  Address first;
  std::uint8_t entry_size = 8;
  using Destinations = std::shared_ptr<const std::vector<Address>>;
  Destinations destinations;  // of each entry; not null
};

/// A function's basic blocks, as far as its code alone shows them.
struct ControlFlowGraph {
  std::vector<BasicBlock> blocks;   // by start; but for BasicBlock::is_unlocked no two overlap
  std::vector<Address> unresolved;  // indirect jumps that may go anywhere, into the function too
  std::vector<Address> transfers;   // destinations of direct calls and jumps outside of it
  std::vector<Address> table_destinations;  // of resolved indirect jumps, sorted
  std::vector<BranchTable> tables;          // of some indirect jumps, by jump
  /// Addresses that control may reach but that no block holds: the middle of another block's
  /// instruction, or bytes that do not decode. No breakpoint may be inserted there.
  std::vector<Address> unmapped;
};

}  // namespace sp::core
