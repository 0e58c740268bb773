#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/ids.h"
#include "core/instruction.h"
#include "core/mapping.h"
#include "supervisor/breakpoints/breakpoint_site.h"
#include "supervisor/breakpoints/jump_ranges.h"
#include "supervisor/breakpoints/original_code.h"
#include "supervisor/breakpoints/site_table.h"
#include "supervisor/breakpoints/target_journal.h"
#include "supervisor/breakpoints/written_code.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/injection/xol_area.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

/// The kernel's struct sigaction.
struct SignalAction {
  std::uint64_t handler = 0;
  std::uint64_t flags = 0;
  std::uint64_t restorer = 0;
  std::uint64_t mask = 0;

  [[nodiscard]] bool is_default() const { return handler == 0; }
  [[nodiscard]] bool is_ignore() const { return handler == 1; }
  [[nodiscard]] bool has_handler() const { return handler > 1; }
};

/// The injected SIGTRAP handler of one address space; see trap_handler.h.
struct TrapHandler {
  bool tried = false;          // to install it
  core::Address page;          // 0: there is none
  std::uint64_t size = 0;      // of what is mapped from there on, bytes
  SignalAction program;        // what the program has set for SIGTRAP: SIG_IGN or SIG_DFL
  core::Address code_cave;     // system calls are made here where there is no page
  core::Address syscall_site;  // system calls are made here
  bool is_installed = false;
  bool has_shadow_stack = false;  // and so it gets no handler; see shadow_stack.h
  core::TimePoint next_look;      // at whether it is still there, from outside
  core::TimePoint next_call;      // the same, by a system call of the target's
  static constexpr core::Duration kBetweenLooks = std::chrono::milliseconds(100);
  core::Duration between_calls = kBetweenLooks;
  void look_later(core::TimePoint now) { next_look = next_call = now + kBetweenLooks; }
};

/// The breakpoints in one address space and the original code under them. Each breakpoint is in the
/// guardian's journal before it is written to the target. Shared by processes that share their
/// memory (vfork). Runs on the ptrace thread.
class BreakpointTable {
 public:
  /// `tid` is any thread of the process. With `may_insert` false no breakpoint is ever inserted,
  /// and where its memory cannot be opened.
  BreakpointTable(core::ProcessId owner, pid_t tid, bool may_insert, Guardian& guardian);
  /// The table of a forked child whose memory is a copy of `parent`'s. The child has the
  /// breakpoints whose insertion is below `inherited`, and perhaps some of the others, which are
  /// written again. 0: nothing is certain, every site is compared and corrected.
  BreakpointTable(core::ProcessId owner, pid_t tid, const BreakpointTable& parent,
                  std::uint64_t inherited);
  ~BreakpointTable();
  BreakpointTable(const BreakpointTable&) = delete;
  BreakpointTable& operator=(const BreakpointTable&) = delete;

  [[nodiscard]] core::ProcessId owner() const { return owner_; }
  /// The guardian's number of the address space.
  [[nodiscard]] std::uint32_t space() const { return space_; }
  [[nodiscard]] bool may_insert() const { return may_insert_; }
  /// Inserts nothing from now on, until enable().
  void disable() { may_insert_ = false; }
  void enable() { may_insert_ = true; }

  /// The site at `address` if its breakpoint is inserted, else nullptr.
  [[nodiscard]] BreakpointSite* inserted_at(core::Address address) {
    BreakpointSite* const site = site_at(address);
    return site != nullptr && site->inserted ? site : nullptr;
  }
  /// The site at `address`, inserted or not, or nullptr.
  [[nodiscard]] BreakpointSite* site_at(core::Address address) { return sites_.find(address); }
  /// The site at `address` if its breakpoint is removed, else nullptr.
  [[nodiscard]] BreakpointSite* removed_at(core::Address address) {
    BreakpointSite* const site = site_at(address);
    return site != nullptr && !site->inserted ? site : nullptr;
  }
  /// There is or was a breakpoint at `address`: a trap there may be reported after its removal.
  [[nodiscard]] bool is_known_site(core::Address address) const {
    return sites_.contains(address) || moved_traps_.contains(address) || is_hold(address);
  }
  /// A jump at `address` changes, or did: a thread that ran into the breakpoint that held it goes
  /// back there.
  void add_hold(core::Address address) { holds_.insert(address); }
  void remove_hold(core::Address address) { holds_.erase(address); }
  [[nodiscard]] bool is_hold(core::Address address) const { return holds_.contains(address); }
  /// A thread that has met a breakpoint was moved before its trap was served: the trap will be
  /// reported as if the breakpoint had been at `address`, where none is.
  void note_moved_trap(core::Address address) { moved_traps_.insert(address); }
  bool forget_moved_trap(core::Address address) {
    const auto found = moved_traps_.find(address);
    if (found == moved_traps_.end()) {
      return false;
    }
    moved_traps_.erase(found);
    return true;
  }
  /// How many breakpoints were inserted so far.
  [[nodiscard]] std::uint64_t insertions() const { return insertions_; }
  /// From now on the target's memory says which breakpoints it has, so that those of a child that
  /// it forks need not be compared. A write more for each change.
  void tell_changes();

  void set_maps(const std::vector<core::Mapping>& maps) { original_.set_maps(maps); }
  void expire_maps() { original_.expire_maps(); }
  [[nodiscard]] bool has_code_in(core::AddressRange range) const {
    return regions().overlaps(range);
  }
  [[nodiscard]] core::AddressRange vdso() const { return regions().vdso(); }

  /// Decodes one instruction from its original bytes.
  [[nodiscard]] std::optional<core::Instruction> decode(core::Address address) {
    return original_.decode(memory_, address);
  }
  /// Reads original bytes from `from` on; returns how many there were.
  std::size_t fetch(core::Address from, std::span<std::byte> into) {
    return original_.fetch(memory_, from, into);
  }
  /// fetch() gives the original bytes of the range whatever is written there.
  [[nodiscard]] bool keeps_original(core::AddressRange range) const {
    return original_.keeps(range);
  }

  /// Removes or inserts one breakpoint. False where the target's memory could not be written.
  bool remove(BreakpointSite& site);
  bool insert(BreakpointSite& site);
  /// The same for many, a page at a time. Leaves alone what does not hold the expected bytes.
  void remove_all(std::vector<BreakpointSite*> sites);
  void insert_all(std::vector<BreakpointSite*> sites);

  [[nodiscard]] bool is_unchanged(const BreakpointSite& site) const {
    return supervisor::is_unchanged(memory_, site);
  }
  /// Sites whose breakpoint the program has overwritten.
  [[nodiscard]] std::vector<BreakpointSite*> overwritten_in(core::AddressRange range) {
    return memory_.is_gone() ? std::vector<BreakpointSite*>{}
                             : find_overwritten(memory_, inserted_in(range));
  }
  /// A thread has met a breakpoint that is removed, or forgotten: see written_code.h.
  bool remove_written_back(core::Address address) {
    return forgotten_.remove_written_back(memory_, address);
  }
  /// Where the instruction at a site is another one, takes a former one for the original if the
  /// program has written that back.
  void take_former_code(BreakpointSite& site) {
    const BreakpointSite* const former =
        is_unchanged(site) ? nullptr : forgotten_.former(memory_, site.instruction.address);
    if (former != nullptr) {
      site.code = former->code;
      site.instruction = former->instruction;
    }
  }
  /// As remove_written_back() for a site that is known.
  void remove_written_back(BreakpointSite& site) {
    take_former_code(site);
    supervisor::remove_written_back(memory_, site);
  }
  /// Remembers the removed breakpoints of a range over forget_sites(), for remove_written_back().
  void remember_removed(core::AddressRange range);
  /// Removes the breakpoints of the page, where the program writes code; inserts none there again.
  void leave_page(core::Address address);

  /// Removes every breakpoint and inserts none from then on.
  void restore_all() {
    restore(kEverywhere);
    may_insert_ = false;
  }
  static constexpr core::AddressRange kEverywhere{core::Address{0},
                                                  core::Address{~std::uint64_t{0}}};
  /// The breakpoints in a range, by address.
  [[nodiscard]] std::vector<BreakpointSite*> inserted_in(core::AddressRange range);
  /// The gates that are removed.
  [[nodiscard]] std::vector<BreakpointSite*> removed_gates() {
    std::vector<BreakpointSite*> removed;
    sites_.for_each(kEverywhere, [&](BreakpointSite& site) {
      if (!site.inserted && site.gate != Gate::none) {
        removed.push_back(&site);
      }
    });
    return removed;
  }
  /// Removes the breakpoints in a range.
  void restore(core::AddressRange range) { remove_all(inserted_in(range)); }

  [[nodiscard]] const TargetMemory& memory() const { return memory_; }
  [[nodiscard]] TrapHandler& trap_handler() { return trap_handler_; }
  [[nodiscard]] const TrapHandler& trap_handler() const { return trap_handler_; }
  /// Tells the guardian of the memory, which it then can restore: before anything of ours is in it.
  /// The first breakpoint does so, too.
  void register_memory() {
    if (memory_.is_open() && !std::exchange(is_registered_, true)) {
      (void)guardian_.register_memory(space_, memory_.fd());
    }
  }
  /// Tells the guardian where the handler's page is, and the page whose it is. `journal` is the
  /// place of the target's own journal.
  void register_trap_handler(core::AddressRange journal);

  /// The relocated copy of the site's instruction, made where there is none. `tid` is a thread in a
  /// signal-delivery stop or an interrupt stop; see xol_area.h.
  [[nodiscard]] std::optional<core::Address> copy_of(const BreakpointSite& site, pid_t tid) {
    return xol_.copy_of(site.instruction.address, site.code, memory_, trap_handler_.syscall_site,
                        tid);
  }
  /// The same for an atomic sequence (LL/SC), with breakpoints at the copy's exits. Those are
  /// inserted whether may_insert() or not. Nothing where it cannot be relocated.
  [[nodiscard]] std::optional<core::Address> copy_of_sequence(core::Address from, pid_t tid);
  /// Makes the target map an XOL region near `near` now, so that neither a hit nor a child has to
  /// do so. `tid` as for copy_of().
  void make_room_for_copies(core::Address near, pid_t tid) {
    xol_.make_room(near, trap_handler_.syscall_site, tid);
  }
  [[nodiscard]] XolArea& xol() { return xol_; }
  /// Where jumps to copies stand (copies/code_patches.h), and so no breakpoint is inserted.
  [[nodiscard]] JumpRanges& jumps() { return jumps_; }
  [[nodiscard]] TargetJournal& target_journal() { return target_journal_; }

 protected:
  [[nodiscard]] Guardian& guardian() { return guardian_; }
  /// The site of an instruction, created where it is new.
  BreakpointSite& site_of(const core::Instruction& instruction);
  /// Forgets everything about a range whose memory is gone.
  void forget_sites(core::AddressRange range);
  [[nodiscard]] const CodeRegions& regions() const { return original_.regions(); }
  [[nodiscard]] bool maps_are_old() const { return original_.maps_are_old(); }

 private:
  /// Behind each change.
  void note_change();
  /// The memory was copied from the parent's when that had the breakpoints that it has now.
  [[nodiscard]] bool has_changes_of(const BreakpointTable& parent) const;
  /// Makes copied memory hold exactly the breakpoints that the table says.
  void resync_all();
  bool add_to_journal(BreakpointSite& site);
  bool add_to_journals(BreakpointSite& site);
  bool write_breakpoint(BreakpointSite& site);
  void remove_from_journal(BreakpointSite& site);

  Guardian& guardian_;
  TargetJournal target_journal_;
  std::uint32_t space_;
  core::ProcessId owner_;
  TargetMemory memory_;
  bool may_insert_;
  TrapHandler trap_handler_;
  XolArea xol_;
  JumpRanges jumps_;
  OriginalCode original_;
  std::unordered_set<std::uint64_t> unwritable_pages_;
  SiteTable sites_;
  ForgottenSites forgotten_;
  std::unordered_multiset<core::Address> moved_traps_;
  std::unordered_set<core::Address> holds_;
  std::uint64_t insertions_ = 0;
  std::uint64_t changes_ = 0;  // how often breakpoints were inserted or removed
  bool tells_changes_ = false;
  bool is_registered_ = false;  // with the guardian
};

}  // namespace sp::supervisor
