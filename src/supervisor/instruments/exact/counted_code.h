#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/code_counts.h"
#include "core/ids.h"
#include "core/instruction.h"
#include "core/messages.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/instruments/instrumented_code.h"

namespace sp::supervisor {

/// A dynamic basic block: straight code from an address that control came to, up to and including
/// the instruction that ends it.
struct DynamicBlock {
  std::vector<std::uint8_t> lengths;  // of its instructions, bytes
  core::Address last;                 // its last instruction so far
  core::Address end_address;          // the first byte after that
  enum class End : std::uint8_t {
    transfer,  // an instruction that ends a block
    syscall,   // a system call from which no thread has returned yet
    unknown,   // undecodable bytes
  };
  End end = End::unknown;
  bool stepped = false;  // no breakpoint can end it: threads are single-stepped through it
  bool reported = false;
};

/// The functions of --toggle-collect.
struct CollectedFunctions {
  std::unordered_set<core::Address> entries;
  std::vector<core::AddressRange> looked_at;  // mappings
};

/// The executed code of one address space: its dynamic blocks, the breakpoints at their ends, and
/// the counts of its edges. Runs on the ptrace thread.
///
/// Decodes only where control has really come. A block ends at a system call for the time being,
/// because nobody knows whether there is code after an exit or a sigreturn.
class CountedCode : public InstrumentedCode {
 public:
  /// `tid` is any thread of the process. With `may_insert` false every block is stepped.
  CountedCode(core::ProcessId owner, pid_t tid, bool may_insert, Guardian& guardian)
      : InstrumentedCode(owner, tid, may_insert, guardian) {}
  /// A forked child's; see BreakpointTable.
  CountedCode(core::ProcessId owner, pid_t tid, const CountedCode& parent, std::uint64_t inherited)
      : InstrumentedCode(owner, tid, parent, inherited),
        returned_to_(parent.returned_to_),
        gates_(parent.gates_),
        has_gates_(parent.has_gates_),
        collected_(parent.collected_) {}

  [[nodiscard]] bool needs_maps(core::Address address) const {
    return maps_are_old() || regions().at(address) == CodeKind::not_executable;
  }

  /// Control is about to come to `start`: decodes its block and inserts the breakpoint that ends
  /// it. The block stays where it is until forget().
  DynamicBlock& discover(core::Address start);
  /// The known block that begins at `start`, or nullptr.
  [[nodiscard]] DynamicBlock* find(core::Address start);
  /// A thread returned from a system call to `address`: extends the blocks that ended there. True
  /// where threads are single-stepped through the code that follows.
  bool extend_after_syscall(core::Address address);

  /// Inserts a breakpoint on the system call that ends at `next`, which changes signal masks: a
  /// gate. If we are killed no thread can block SIGTRAP before the guardian has removed all other
  /// breakpoints.
  void insert_gate(core::Address next);
  /// All places are known that need one.
  [[nodiscard]] bool has_gates() const { return has_gates_; }
  void set_has_gates(bool has_gates) { has_gates_ = has_gates; }

  /// Its threads are not counted; decided once, before there are breakpoints.
  [[nodiscard]] bool is_let_go() const { return is_let_go_; }
  void let_go() { is_let_go_ = true; }

  [[nodiscard]] EdgeCounts& edges() { return edges_; }
  [[nodiscard]] CollectedFunctions& collected() { return collected_; }
  /// What was discovered and counted since the last call.
  [[nodiscard]] core::CodeCounted take();

  /// Forgets everything about a range whose memory is gone. Its counts must have been taken.
  void forget(core::AddressRange range);
  /// The same for code that stays and that the program is about to read or write: without our
  /// breakpoints. True where there were some: all threads have to be stepped to the end of the
  /// blocks that they are in.
  bool forget_written(core::AddressRange range);
  /// How often that has happened.
  [[nodiscard]] std::uint64_t times_written() const { return times_written_; }
  /// A thread has returned from a system call to `address` before.
  [[nodiscard]] bool is_returned_to(core::Address address) const {
    return returned_to_.contains(address);
  }

 private:
  [[nodiscard]] core::AddressRange with_whole_blocks(core::AddressRange range) const;
  void forget_blocks(core::AddressRange range);
  void extend(DynamicBlock& block, core::Address start);
  bool extend_by_sequence(DynamicBlock& block, const core::Instruction& first);
  bool insert_at(const core::Instruction& instruction);

  std::unordered_map<core::Address, DynamicBlock> blocks_;
  std::vector<core::Address> unreported_;  // starts of blocks
  /// Blocks that end at a system call: the address after it, and the block's start.
  std::unordered_multimap<core::Address, core::Address> open_;
  std::unordered_set<core::Address> returned_to_;  // from a system call
  std::unordered_set<core::Address> gates_;        // also those that were removed for good
  bool is_let_go_ = false;
  bool has_gates_ = false;
  CollectedFunctions collected_;
  std::uint64_t times_written_ = 0;
  EdgeCounts edges_;
};

}  // namespace sp::supervisor
