#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

/// The relocated copies of displaced instructions (an XOL area, as uprobes has), each followed by a
/// jump back. If the tracer cannot emulate the instruction under a breakpoint, a thread executes
/// the copy, and the breakpoint stays in place. The copies are in small regions of our own near the
/// code, which stay mapped until the target is detached. Runs on the ptrace thread.
class XolArea {
 public:
  /// The address of the copy of the instruction at `site`; makes it if there is none. To map a
  /// region, `tid` makes a remote system call at `call` (see remote_syscall()). Nothing if the
  /// instruction cannot be relocated, or no region can be mapped.
  [[nodiscard]] std::optional<core::Address> copy_of(core::Address site,
                                                     std::span<const std::byte> code,
                                                     const TargetMemory& memory, core::Address call,
                                                     pid_t tid);

  /// The copy of an atomic sequence, within which no thread may be stopped
  /// (arch/atomic_sequence.h), and the jumps by which a thread leaves it.
  struct Sequence {
    core::Address at;
    std::vector<core::Address> exits;
  };
  [[nodiscard]] const Sequence* copy_of_sequence(core::Address site,
                                                 std::span<const std::byte> code,
                                                 const TargetMemory& memory, core::Address call,
                                                 pid_t tid);

  /// Maps a region within reach of `near` unless there is one.
  void make_room(core::Address near, core::Address call, pid_t tid);

  /// What a thread in the area is doing.
  struct Inside {
    core::Address site;
    bool is_done = false;  // the instruction is executed; only the jump back is left
  };
  [[nodiscard]] std::optional<Inside> at(core::Address pc) const;
  [[nodiscard]] bool empty() const { return regions_.empty(); }

  /// After a fork: synchronises the child, whose memory is as its parent's was at the fork, with
  /// this table, which is a copy of its parent's. Writes the copies made since into the child,
  /// drops the regions that the child does not have, and returns their ranges.
  std::vector<core::AddressRange> resync_child(const TargetMemory& child, pid_t tid,
                                               const TargetMemory& parent);

  /// Forgets the copies of code in a range, which may be other code by now.
  void forget(core::AddressRange range);

  /// Unmaps the regions. No thread may be in them.
  void remove(core::Address call, pid_t tid);

 private:
  struct Region {
    core::AddressRange range;
    std::uint32_t used = 0;
    std::vector<core::Address> sites;
  };
  /// A region within reach that has `slots` left.
  Region* region_for(core::Address site, std::uint32_t slots, core::Address call, pid_t tid);
  std::optional<core::Address> put(Region& region, core::Address site,
                                   std::span<const std::byte> code, const TargetMemory& memory);
  Region* make_region(core::Address near, core::Address call, pid_t tid);

  std::vector<Region> regions_;
  std::unordered_map<core::Address, core::Address> copies_;
  std::unordered_map<core::Address, Sequence> sequences_;
};

}  // namespace sp::supervisor
