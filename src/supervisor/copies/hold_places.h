#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>

#include "core/address.h"
#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/guardian/code_change.h"

namespace sp::supervisor {

/// Where breakpoints hold threads while jumps change, if they do on this CPU
/// (Native::LivePatch::kHoldTraps). The breakpoint table knows these places, so that a thread that
/// met one goes back to it, and so does the target's own journal: if we are killed, the injected
/// handler lets the thread wait for the guardian. It restores nothing within a jump by itself: that
/// would put one byte of the original among the jump's other ones.
class HoldPlaces {
 public:
  explicit HoldPlaces(BreakpointTable& code) : code_(code) {}

  /// Before a change is written, in either direction; `there`: its original bytes. flush() has to
  /// follow. False if the journal is full.
  [[nodiscard]] bool add(const CodeChange& change, std::span<const std::byte> there);
  [[nodiscard]] bool flush();
  /// The memory there is gone.
  void forget(core::AddressRange range);

 private:
  BreakpointTable& code_;
  /// The entry in the target's journal, if that is not a site's.
  std::unordered_map<core::Address, TargetJournal::EntryId> entries_;
};

}  // namespace sp::supervisor
