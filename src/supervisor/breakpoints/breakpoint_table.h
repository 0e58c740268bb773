#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/ids.h"
#include "core/instruction.h"
#include "core/mapping.h"
#include "supervisor/breakpoints/code_regions.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/injection/xol_area.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

inline constexpr std::size_t kLongestCode = 15;  // bytes of any instruction

/// An instruction with a breakpoint on it, or one that had one.
struct BreakpointSite {
  core::Instruction instruction;
  std::array<std::byte, kLongestCode> code{};  // what really stands there, and behind it
  bool inserted = false;
  Journal::EntryId journal_entry = Journal::kNoEntry;
  std::uint64_t insertion = 0;  // which one it was: they count up

  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};
  static constexpr std::uint32_t kMapsChanged =
      kNoBlock - 1;                // the loader comes by after it mapped
  std::uint32_t block = kNoBlock;  // of default mode: whose executions it counts

  /// Where it went lately, so that the common case looks nothing up: known, planted code.
  struct Way {
    core::Address to;
    EdgeCounts::Edge* edge = nullptr;
  };
  std::array<Way, 2> ways{};
  std::uint8_t oldest_way = 0;
};

/// The breakpoints in one address space, and what stands in their places. Runs on the ptrace
/// thread.
class BreakpointTable {
 public:
  /// `tid` is any thread of the process. With `plants` false nothing may be planted.
  BreakpointTable(core::ProcessId owner, pid_t tid, bool plants, Guardian& guardian);
  /// A forked child's, whose memory is a copy of `parent`'s: it holds the breakpoints with a number
  /// below `certain`, and maybe some of the others.
  BreakpointTable(core::ProcessId owner, pid_t tid, const BreakpointTable& parent,
                  std::uint64_t certain);
  ~BreakpointTable();
  BreakpointTable(const BreakpointTable&) = delete;
  BreakpointTable& operator=(const BreakpointTable&) = delete;

  [[nodiscard]] core::ProcessId owner() const { return owner_; }
  /// The guardian's number of the address space.
  [[nodiscard]] std::uint32_t space() const { return space_; }
  [[nodiscard]] bool may_insert() const { return may_insert_; }
  /// Nothing is to be planted any more.
  void disable() { may_insert_ = false; }

  /// The breakpoint that stands there; nullptr where none does.
  [[nodiscard]] BreakpointSite* inserted_at(core::Address address);
  /// One that stands there or did.
  [[nodiscard]] BreakpointSite* site_at(core::Address address);
  /// One that was taken away for a moment.
  [[nodiscard]] BreakpointSite* removed_at(core::Address address);
  /// A breakpoint of ours was there when its trap was on its way.
  [[nodiscard]] bool is_known_site(core::Address address) const;
  [[nodiscard]] std::uint64_t insertions() const { return insertions_; }

  void maps_changed() { maps_are_old_ = true; }
  void set_maps(const std::vector<core::Mapping>& maps);
  [[nodiscard]] bool has_code_in(core::AddressRange range) const {
    return regions_.overlaps(range);
  }

  /// One instruction, from its original bytes.
  [[nodiscard]] std::optional<core::Instruction> decode(core::Address address);
  /// Up to kLongestCode original bytes; returns how many.
  std::size_t code_at(core::Address from, std::span<std::byte> into) { return fetch(from, into); }

  /// Takes one breakpoint away, or puts it (back).
  bool remove(BreakpointSite& site);
  bool insert(BreakpointSite& site);
  /// The same for many, a page at a time. What does not hold the expected bytes is left alone.
  void remove_all(std::vector<BreakpointSite*> sites);
  void insert_all(std::vector<BreakpointSite*> sites);

  /// Puts every original byte back. Nothing is planted from then on.
  void restore_all();
  /// Puts the original bytes of a piece back.
  void restore(core::AddressRange range);

  [[nodiscard]] const TargetMemory& memory() const { return memory_; }
  [[nodiscard]] core::AddressRange vdso() const { return regions_.vdso(); }

  /// What saves the process where we are killed: see rescue.h.
  struct TrapHandler {
    bool tried = false;
    core::Address page;          // 0: not there
    core::Address code_cave;     // where calls can be made without the page: see remote_syscall.h
    core::Address syscall_site;  // and with it
    bool is_installed = false;
    bool has_shadow_stack = false;  // and so no handler of ours: see shadow_stack.h
    core::TimePoint next_look;      // whether it is there still, and by a call of the target's
    core::TimePoint next_call;
    static constexpr core::Duration kBetweenLooks = std::chrono::milliseconds(100);
    core::Duration between_calls = kBetweenLooks;
    void look_later(core::TimePoint now) { next_look = next_call = now + kBetweenLooks; }
  };
  [[nodiscard]] TrapHandler& trap_handler() { return trap_handler_; }
  [[nodiscard]] const TrapHandler& trap_handler() const { return trap_handler_; }

  /// Where the site's instruction can be executed instead, by a thread that is in a stop for a
  /// signal or an interrupt; see out_of_line.h.
  [[nodiscard]] std::optional<core::Address> copy_of(const BreakpointSite& site, pid_t tid);
  /// The same for a sequence that must not be stopped within: its copy, with breakpoints where a
  /// thread comes out of it; nothing where that cannot be. It may be planted where else nothing is.
  [[nodiscard]] std::optional<core::Address> copy_of_sequence(core::Address from, pid_t tid);
  /// Bytes of the sequence that begins there, and for which there can be a copy; 0 else.
  [[nodiscard]] std::size_t sequence_at(core::Address address);
  /// A breakpoint there would be in such a sequence.
  [[nodiscard]] bool is_in_sequence(core::Address address);
  /// Has the target make its room for copies of code near there now, so that neither a hit nor a
  /// child has to. The thread is in such a stop.
  void make_room_for_copies(core::Address near, pid_t tid) {
    xol_.make_room(near, trap_handler_.syscall_site, tid);
  }
  [[nodiscard]] XolArea& xol() { return xol_; }
  void tell_guardian_of_handler();

 protected:
  static constexpr std::uint64_t kPageSize = 4096;
  using Page = std::array<std::byte, kPageSize>;

  /// The site of an instruction, new or known.
  BreakpointSite& site_of(const core::Instruction& instruction);
  /// Knows nothing of a piece any more: its memory is gone.
  void forget_sites(core::AddressRange range);
  /// The original bytes from an address on; returns how many were there.
  std::size_t fetch(core::Address from, std::span<std::byte> into);
  [[nodiscard]] std::unordered_map<core::Address, BreakpointSite>& sites() { return sites_; }
  [[nodiscard]] const CodeRegions& regions() const { return regions_; }
  [[nodiscard]] bool maps_are_old() const { return maps_are_old_; }
  /// Makes memory that was copied from other memory hold what it should.
  void resync_all();

 private:
  const Page* page(core::Address address);
  /// Reads what `sites`, all in one page, stand in, lets `change` see to each, and writes it back.
  template <typename Change>
  bool rewrite(std::span<BreakpointSite* const> sites, const Change& change);
  bool add_to_journal(BreakpointSite& site);
  bool write_breakpoint(BreakpointSite& site);
  void remove_from_journal(BreakpointSite& site);

  Guardian& guardian_;
  std::uint32_t space_;  // the guardian's number of it
  core::ProcessId owner_;
  bool may_insert_;
  TrapHandler trap_handler_;
  XolArea xol_;
  TargetMemory memory_;
  CodeRegions regions_;
  bool maps_are_old_ = true;
  /// Original bytes of pages that breakpoints can stand in.
  std::unordered_map<std::uint64_t, std::shared_ptr<const Page>> pages_;
  std::unordered_set<std::uint64_t> unplantable_pages_;
  std::unordered_map<core::Address, BreakpointSite> sites_;
  std::uint64_t insertions_ = 0;
};

/// Puts a thread that ran into a breakpoint of the code's, which was taken away before that was
/// reported, in front of the instruction again. False where the trap was none.
[[nodiscard]] bool adjust_pc_after_breakpoint(const BreakpointTable& code, pid_t tid,
                                              ptrace::Registers registers, int si_code);

}  // namespace sp::supervisor
