#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "supervisor/breakpoints/breakpoint_site.h"
#include "supervisor/linux/target_memory.h"

/// Programs that write to their own code while there are breakpoints in it: what they write is what
/// is executed.
namespace sp::supervisor {

/// The instruction at an inserted site is the one that the breakpoint has replaced. False where the
/// program has written other code beside the breakpoint or over it.
[[nodiscard]] bool is_unchanged(const TargetMemory& memory, const BreakpointSite& site);
/// A breakpoint stands there.
[[nodiscard]] bool is_breakpoint_at(const TargetMemory& memory, core::Address address);
/// Those of the sites, which are in the order of addresses, where none stands any more.
[[nodiscard]] std::vector<BreakpointSite*> find_overwritten(
    const TargetMemory& memory, std::span<BreakpointSite* const> inserted);
/// A thread has met a breakpoint that was removed: the program had read it before the removal, and
/// has put it back. Removes it again.
void remove_written_back(const TargetMemory& memory, const BreakpointSite& site);

/// Removed breakpoints in code that the program writes to, though their sites are forgotten.
class ForgottenSites {
 public:
  void remember(const BreakpointSite& site);
  /// remove_written_back() for a breakpoint at `address`. False where there never was one.
  bool remove_written_back(const TargetMemory& memory, core::Address address);
  /// What was there before the site's breakpoint was inserted anew, if the program has written it
  /// back beside the breakpoint, which it had read; nullptr: it has not.
  [[nodiscard]] const BreakpointSite* former(const TargetMemory& memory,
                                             core::Address address) const;

 private:
  /// A program may switch between several.
  std::unordered_map<core::Address, std::vector<BreakpointSite>> sites_;
};

}  // namespace sp::supervisor
