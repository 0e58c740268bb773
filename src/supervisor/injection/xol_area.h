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

/// Copies of displaced instructions in the target's memory, each followed by a jump back, so that
/// what cannot be done in a thread's stead is done without taking the breakpoint away. They lie in
/// small regions of our own near the code, which stay until the target is let go. Runs on the
/// ptrace thread.
class OutOfLine {
 public:
  /// Where an instruction can be executed instead of at `site`. `call` are bytes of a system call
  /// in the target, `tid` a thread in a stop for a signal or an interrupt: a region is made where
  /// there is none. Nothing where it cannot be moved.
  [[nodiscard]] std::optional<core::Address> copy_of(core::Address site,
                                                     std::span<const std::byte> code,
                                                     const TargetMemory& memory, core::Address call,
                                                     pid_t tid);

  /// The same for a sequence that must not be stopped within (arch/atomic_sequence.h): its copy, and the
  /// jumps at which a thread comes out of it.
  struct Sequence {
    core::Address at;
    std::vector<core::Address> exits;
  };
  [[nodiscard]] const Sequence* copy_of_sequence(core::Address site,
                                                 std::span<const std::byte> code,
                                                 const TargetMemory& memory, core::Address call,
                                                 pid_t tid);

  /// The same without a copy yet: a region that reaches what is near, unless there is one.
  void make_room(core::Address near, core::Address call, pid_t tid);

  /// A thread is in a copy.
  struct Inside {
    core::Address site;
    bool is_done = false;  // the instruction is; only the way back is left
  };
  [[nodiscard]] std::optional<Inside> at(core::Address pc) const;
  [[nodiscard]] bool empty() const { return regions_.empty(); }

  /// What is known of a parent is to be true of its forked child, whose memory is as its parent's
  /// was at the fork: puts the copies that were made since into it, and forgets the regions, which
  /// are the answer.
  std::vector<core::AddressRange> make_true_for_child(const TargetMemory& child, pid_t tid,
                                                      const TargetMemory& parent);

  /// There may be other code in a piece by now.
  void forget(core::AddressRange range);

  /// Unmaps the regions; no thread is in them.
  void remove(core::Address call, pid_t tid);

 private:
  struct Region {
    core::AddressRange range;
    std::uint32_t used = 0;
    std::vector<core::Address> sites;
  };
  /// One that has `slots` left.
  Region* region_for(core::Address site, std::uint32_t slots, core::Address call, pid_t tid);
  std::optional<core::Address> put(Region& region, core::Address site,
                                   std::span<const std::byte> code, const TargetMemory& memory);
  Region* make_region(core::Address near, core::Address call, pid_t tid);

  std::vector<Region> regions_;
  std::unordered_map<core::Address, core::Address> copies_;
  std::unordered_map<core::Address, Sequence> sequences_;
};

}  // namespace sp::supervisor
