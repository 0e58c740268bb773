#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "arch/native.h"
#include "core/address.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

/// The place in a process where its threads make the rest of their transfers: the unused end of the
/// vdso, with the code (arch::NativeTransferStub) and behind it a block for each thread. Which
/// blocks are in use is written there, so that processes that share their memory agree on it, and
/// a later superprofiler, too.
class TransferArea {
 public:
  /// Nothing if the process of `tid` has no room for it. Writes nothing.
  static std::optional<TransferArea> find(pid_t tid);

  [[nodiscard]] core::Address code() const { return code_; }
  /// The offset in the code of a thread that is in it.
  [[nodiscard]] std::optional<std::uint64_t> offset_of(core::Address pc) const;

  /// Where a slot, and `scratch` bytes behind it, may be written for a thread that is not in the
  /// code. Writes the code if it is not there yet. Nothing if others use all the room.
  [[nodiscard]] std::optional<core::Address> slot_for(pid_t tid, std::size_t scratch) const;
  /// Where its scratch memory is.
  [[nodiscard]] static core::Address scratch_of(core::Address slot) {
    return slot + sizeof(arch::NativeTransferStub::Slot);
  }
  /// The slot of a thread that is in the code.
  [[nodiscard]] std::optional<arch::NativeTransferStub::Slot> slot_of(pid_t tid) const;
  /// That thread is not in the code any more.
  void release(pid_t tid) const;
  /// Restores the bytes that were there, unless a thread may still be in the code. `pid`: of the
  /// process, or of one with the same memory.
  void remove_if_unused(pid_t pid) const;

 private:
  TransferArea(core::Address code, core::Address end) : code_(code), end_(end) {}

  /// Calls `visit` with each block's address, its size and its owner until it returns true.
  template <typename Visit>
  core::Address visit_blocks(const TargetMemory& memory, const Visit& visit) const;
  [[nodiscard]] bool is_written(const TargetMemory& memory) const;
  [[nodiscard]] bool is_in_use(std::uint64_t owner) const;

  core::Address code_;
  core::Address end_;
};

}  // namespace sp::supervisor
