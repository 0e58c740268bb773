#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/address.h"

namespace sp::supervisor {

/// A thread's system call: its number and arguments.
struct SyscallRequest {
  std::uint64_t number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

/// Whether the owner of a SigtrapMask sees every change of the thread's mask.
enum class MaskChanges {
  seen,    // it calls unblock() or change() at each: blocks_trap() is what the program believes
  unseen,  // it looks now and then
};

/// Unblocks SIGTRAP in one thread, because the kernel kills a thread that meets a breakpoint with
/// SIGTRAP blocked, and gives the program's own mask back. All functions need the thread stopped.
class SigtrapMask {
 public:
  explicit SigtrapMask(MaskChanges changes) : changes_(changes) {}
  void set_changes(MaskChanges changes) { changes_ = changes; }

  /// The program blocks SIGTRAP in this thread, though the kernel does not.
  [[nodiscard]] bool blocks_trap() const { return blocks_trap_; }
  /// The thread has the mask of its creator, which `blocks` SIGTRAP as the program sees it.
  void inherit(bool blocks) { blocks_trap_ = blocks_trap_ || blocks; }
  /// The same of a thread that has executed nothing yet, or nothing that was not seen: it has to be
  /// given its mask back even if nobody looks before.
  void inherit_mask(pid_t tid, bool blocks);

  /// The mask has just been set by the program: unblocks SIGTRAP in it. True where it was blocked.
  bool unblock(pid_t tid);
  /// The same between two changes, to be sure: a mask without SIGTRAP says nothing.
  bool unblock_again(pid_t tid);
  /// A signal is about to be delivered: notes which handlers have returned.
  void begin_delivery(pid_t tid) { leave_handlers(tid); }
  /// The thread stands at the first instruction of a signal handler, whose mask the kernel has set,
  /// but for SIGTRAP where the handler `blocks` it for the program alone (handler_masks.h). True
  /// where SIGTRAP is blocked. For owners that do not see the handler's return: it has taken
  /// place once the stack pointer is above where it is now.
  bool enter_handler(pid_t tid, bool blocks);
  /// Puts the program's mask in place for the kernel to see: a handler's return or a system call
  /// depends on it. unblock() follows.
  void block_again(pid_t tid);
  /// The thread executes nothing for a while (SIGSTOP), in which it may be left to itself, or is
  /// about to take a signal that has ended a call with a mask of its own: its mask is the
  /// program's. hide() follows, or unblock().
  void show(pid_t tid) {
    block_again(tid);
    is_shown_ = blocks_trap_;
  }
  [[nodiscard]] bool is_shown() const { return is_shown_; }
  void hide(pid_t tid) {
    if (std::exchange(is_shown_, false)) {
      (void)unblock_again(tid);
    }
  }
  /// The thread is about to be detached.
  void give_back(pid_t tid);
  /// block_again(), and nothing is left to be given back; but for a signal that waits.
  void leave_to_program(pid_t tid);
  /// block_again() for good: from now on the kernel alone has the mask, and the signal that waits.
  void restore(pid_t tid);

  /// A SIGTRAP that is not the kernel's own was sent to the thread. False where the program blocks
  /// it: it is sent again when the program unblocks it.
  [[nodiscard]] bool may_deliver(pid_t tid);

  /// Does rt_sigprocmask instead of the kernel, which would block SIGTRAP for a moment: were we
  /// killed then, the next breakpoint would kill the target. False where it is another call, or one
  /// that fails.
  [[nodiscard]] bool change(pid_t tid, const SyscallRequest& call);

 private:
  void send_held_trap(pid_t tid);
  /// In the kernel, for the time until the program sets it.
  void put(pid_t tid, std::uint64_t mask);
  void leave_handlers(pid_t tid);
  void look_for_return(std::uint64_t mask);

  MaskChanges changes_;
  bool blocks_trap_ = false;
  bool is_shown_ = false;      // show()
  bool trap_is_held_ = false;  // one was sent to the thread meanwhile
  struct Handler {
    core::Address sp;
    bool blocked_before = false;
    std::uint64_t mask = 0;  // the kernel's in it; another one without put() is from its return
  };
  std::vector<Handler> handlers_;  // that may not have returned yet
  /// What we have made of a mask that we did not see being set. The thread may be in a handler,
  /// which we have not seen either: once it returns the mask is another one.
  std::optional<std::uint64_t> unblocked_mask_;
};

/// The thread is in a call that waits with a mask of its own (sigsuspend, ppoll). A mask that is
/// set now takes the place of that and of the program's.
[[nodiscard]] bool waits_with_other_mask(pid_t tid);
/// It does, and a signal is about to end the call: the mask stays as it is until the handler
/// begins, else the call would fail with EINTR and the handler run some time later.
[[nodiscard]] bool is_woken_with_other_mask(pid_t tid);

/// What rt_sigprocmask makes of a mask; nothing where `how` is invalid. Pure.
[[nodiscard]] std::optional<std::uint64_t> mask_after(std::uint64_t how, std::uint64_t before,
                                                      std::uint64_t given);

}  // namespace sp::supervisor
