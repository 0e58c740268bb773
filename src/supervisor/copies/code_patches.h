#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "core/result.h"
#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/copies/hold_places.h"
#include "supervisor/guardian/code_change.h"
#include "supervisor/guardian/guardian.h"

namespace sp::supervisor {

/// The jumps from original code to copies of it in one address space, and the ways out of those
/// copies. Each is in the guardian's journal before it is written to the target, and stays in it
/// until nobody can have it. Runs on the ptrace thread.
///
/// A jump and a breakpoint never overlap: the breakpoints within a jump are removed first, and
/// BreakpointTable inserts none there. Its fetch() and decode() give the bytes under jumps.
///
/// All jumps of a call change together, in the steps of guardian/code_change.h. Meanwhile each
/// thread of the address space is stopped, with a pc that is not behind a jump's first byte within
/// it (one that is goes to the copy first, or stays there until afterwards), or asleep in a system
/// call that is no fork. A sleeper may wake. Then it goes on behind its call, where a jump may
/// begin, and is held there; or, if it woke before that was held, it may be anywhere. So whoever
/// calls looks at them after the first step, and stops who has woken. And once more after the
/// second one: who has woken since may have fetched what was behind the first bytes before it
/// changed. Those that sleep on have fetched nothing: until they are back they execute more of the
/// kernel than a CPU has fetched ahead. So there is no need to wait for every CPU, as the guardian
/// has to.
///
/// A child that is not traced (CLONE_UNTRACED) keeps the jumps that it was born with, and its
/// copies, which need nobody.
class CodePatches {
 public:
  /// Stops the threads that have woken since. False if that failed, or one stands within a jump:
  /// then the change is undone.
  using StopWoken = std::function<bool()>;

  CodePatches(BreakpointTable& code, Guardian& guardian) : code_(code), guardian_(guardian) {}
  ~CodePatches();
  CodePatches(const CodePatches&) = delete;
  CodePatches& operator=(const CodePatches&) = delete;

  /// Writes jumps (`from`: the original bytes, `to`: the jump), all or none of them.
  [[nodiscard]] core::Result<void> apply(std::vector<CodeChange> jumps,
                                         const StopWoken& stop_woken);
  /// Puts back the original bytes of the jumps that begin there. What the program has written over
  /// a jump stays. On an error the jumps are still listed, and may or may not be there.
  [[nodiscard]] core::Result<void> remove(std::span<const core::Address> heads,
                                          const StopWoken& stop_woken);
  [[nodiscard]] core::Result<void> remove_all(const StopWoken& stop_woken);

  /// Ways out of copies, which the guardian opens if superprofiler is killed (`from`: what is
  /// there, `to`: a jump to the original). Before a thread can come to the copies. False if the
  /// journal is full.
  [[nodiscard]] bool add_exits(std::span<const CodeChange> exits);
  /// Before other code is written to the copies in a range, or their memory is unmapped. Until then
  /// the guardian opens them even when the jumps to them are removed: a child may be born with
  /// both.
  void remove_exits(core::AddressRange range);
  /// Opens all of them while threads run, once the jumps to the copies are removed (with those, who
  /// leaves a copy would come back for ever): soon nobody is in a copy.
  void open_exits() const;

  /// A jump begins there.
  [[nodiscard]] bool is_patched(core::Address address) const { return jumps_.contains(address); }
  [[nodiscard]] std::size_t size() const { return jumps_.size(); }

  /// Removes the jumps from a forked child's copy of the memory, whose only thread is stopped. Call
  /// it before the child has a BreakpointTable: until then its page of the handler says that it has
  /// what this address space has, and the guardian believes that. Children get no copies. False
  /// where the child's memory could not be written.
  [[nodiscard]] bool restore_child(const TargetMemory& child) const;
  /// No forked child is left that restore_child() was not called for, and no thread is in a fork:
  /// nobody has the jumps any more that were removed so far.
  void forget_removed();
  /// The memory there is gone.
  void forget(core::AddressRange range);

 private:
  struct Entry {
    CodeChange change;  // to the jump
    Journal::EntryId journal_entry = Journal::kNoEntry;
  };

  [[nodiscard]] core::Result<void> check(std::span<const CodeChange> jumps);
  /// `undo`: what the guardian is to do. kNoEntry if a journal is full.
  [[nodiscard]] Journal::EntryId add_to_journals(const CodeChange& undo,
                                                 std::span<const std::byte> there);
  [[nodiscard]] core::Result<void> take_steps(std::span<const CodeChange> changes,
                                              const StopWoken& stop_woken) const;
  void undo(std::span<const CodeChange> changes) const;
  [[nodiscard]] bool is_breakpoint_only(const FoundBytes& found) const;

  BreakpointTable& code_;
  Guardian& guardian_;
  std::unordered_map<core::Address, Entry> jumps_;
  std::vector<Entry> removed_;
  std::map<core::Address, Entry> exits_;
  HoldPlaces holds_{code_};
};

}  // namespace sp::supervisor
