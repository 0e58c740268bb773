#include "supervisor/instruments/sigtrap_mask.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "arch/native.h"
#include "core/address.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;
using Mask = std::uint64_t;

constexpr Mask kTrap = signal_bit(SIGTRAP);
constexpr Mask kUnblockable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);

}  // namespace

std::optional<Mask> mask_after(std::uint64_t how, Mask before, Mask given) {
  given &= ~kUnblockable;
  switch (how) {
    case SIG_BLOCK:
      return before | given;
    case SIG_UNBLOCK:
      return before & ~given;
    case SIG_SETMASK:
      return given;
    default:
      return std::nullopt;
  }
}

namespace {

/// The kernel's masks of a thread that waits with another one than the program's.
std::optional<SignalMasks> masks_of_wait(pid_t tid) {
  const auto masks = read_signal_masks(tid);
  const auto programs = ptrace::signal_mask(tid);
  return masks && programs && masks->blocked != *programs ? masks : std::nullopt;
}

}  // namespace

bool waits_with_other_mask(pid_t tid) { return masks_of_wait(tid).has_value(); }

bool is_woken_with_other_mask(pid_t tid) {
  const auto registers = ptrace::registers(tid);
  if (!registers || !arch::Native::leaving_syscall(*registers) ||
      !arch::Native::returns_eintr(*registers)) {
    return false;
  }
  const auto masks = masks_of_wait(tid);
  return masks &&
         masks->have_effect((masks->thread_pending | masks->process_pending) & ~masks->blocked);
}

void SigtrapMask::send_held_trap(pid_t tid) {
  if (std::exchange(trap_is_held_, false)) {
    ::syscall(SYS_tkill, tid, SIGTRAP);
  }
}

void SigtrapMask::put(pid_t tid, Mask mask) {
  if (ptrace::set_signal_mask(tid, mask) && !handlers_.empty()) {
    handlers_.back().mask = mask;
  }
}

void SigtrapMask::inherit_mask(pid_t tid, bool blocks) {
  inherit(blocks);
  const auto mask = blocks ? ptrace::signal_mask(tid) : core::fail("");
  if (mask && (*mask & kTrap) == 0) {
    unblocked_mask_ = *mask;
  }
}

bool SigtrapMask::unblock(pid_t tid) {
  is_shown_ = false;
  const auto mask = ptrace::signal_mask(tid);
  if (!mask) {
    return false;
  }
  blocks_trap_ = (*mask & kTrap) != 0;
  if (!blocks_trap_) {
    unblocked_mask_.reset();
    send_held_trap(tid);
    return false;
  }
  put(tid, *mask & ~kTrap);
  unblocked_mask_ = *mask & ~kTrap;
  return true;
}

bool SigtrapMask::unblock_again(pid_t tid) {
  const auto mask = ptrace::signal_mask(tid);
  return mask && (*mask & kTrap) != 0 && unblock(tid);
}

bool SigtrapMask::enter_handler(pid_t tid, bool blocks) {
  constexpr std::size_t kDeepest = 64;
  const auto mask = ptrace::signal_mask(tid);
  const auto registers = ptrace::registers(tid);
  if (!mask || !registers) {
    return false;
  }
  leave_handlers(tid);
  if (handlers_.size() == kDeepest) {
    handlers_.erase(handlers_.begin());  // handlers that are left by longjmp
  }
  handlers_.push_back({arch::Native::sp(*registers), blocks_trap_, *mask});
  if ((*mask & kTrap) == 0) {
    blocks_trap_ = blocks_trap_ || blocks;
    return blocks;
  }
  blocks_trap_ = true;
  put(tid, *mask & ~kTrap);
  return true;
}

void SigtrapMask::leave_handlers(pid_t tid) {
  const auto registers = handlers_.empty() ? core::fail("") : ptrace::registers(tid);
  const auto mask = handlers_.empty() ? core::fail("") : ptrace::signal_mask(tid);
  while (registers && mask && !handlers_.empty() &&
         (arch::Native::sp(*registers) > handlers_.back().sp || *mask != handlers_.back().mask)) {
    blocks_trap_ = handlers_.back().blocked_before;
    handlers_.pop_back();
  }
}

void SigtrapMask::look_for_return(Mask mask) {
  if (handlers_.empty() && unblocked_mask_ && mask != *unblocked_mask_) {
    unblocked_mask_.reset();
    blocks_trap_ = (mask & kTrap) != 0;
  }
}

void SigtrapMask::block_again(pid_t tid) {
  if (!blocks_trap_) {
    return;
  }
  const auto mask = ptrace::signal_mask(tid);
  // Where it waits with another mask (sigsuspend) this is the one from before, which is whole.
  if (mask && (*mask & kTrap) == 0) {
    put(tid, *mask | kTrap);
  }
}

void SigtrapMask::restore(pid_t tid) {
  block_again(tid);
  send_held_trap(tid);
}

void SigtrapMask::leave_to_program(pid_t tid) {
  block_again(tid);
  if (!trap_is_held_) {
    *this = SigtrapMask(MaskChanges::unseen);
  }
}

void SigtrapMask::give_back(pid_t tid) {
  leave_handlers(tid);
  const auto mask = ptrace::signal_mask(tid);
  if (changes_ == MaskChanges::seen) {
    if (mask) {
      look_for_return(*mask);
    }
    restore(tid);
    return;
  }
  // Another mask than ours is one that the program has set since.
  const auto ours = std::exchange(unblocked_mask_, std::nullopt);
  if (ours && mask && *mask == *ours) {
    (void)ptrace::set_signal_mask(tid, *mask | kTrap);
  }
}

bool SigtrapMask::may_deliver(pid_t tid) {
  const auto info = ptrace::signal_info(tid);
  const auto mask = ptrace::signal_mask(tid);
  leave_handlers(tid);
  if (mask) {
    look_for_return(*mask);
  }
  if (changes_ == MaskChanges::unseen || !blocks_trap_ || !info || info->si_code > 0) {
    return true;
  }
  trap_is_held_ = true;
  return false;
}

bool SigtrapMask::change(pid_t tid, const SyscallRequest& call) {
  const auto [how, set, old, size, unused4, unused5] = call.arguments;
  if (size != sizeof(Mask) ||
      arch::Native::syscall_name(static_cast<int>(call.number)) != "rt_sigprocmask") {
    return false;
  }
  const auto blocked = ptrace::signal_mask(tid);
  if (!blocked) {
    return false;
  }
  changes_ = MaskChanges::seen;
  leave_handlers(tid);
  look_for_return(*blocked);
  const Mask before = blocks_trap_ ? *blocked | kTrap : *blocked;
  std::optional<Mask> after = before;
  std::array<std::byte, sizeof(Mask)> bytes{};
  ThreadMemory memory(tid);
  if (set != 0) {
    Mask given = 0;
    if (!memory.read(Address{set}, bytes)) {
      return false;
    }
    std::memcpy(&given, bytes.data(), sizeof given);
    after = mask_after(how, before, given);
  }
  std::memcpy(bytes.data(), &before, sizeof before);
  if (!after || (old != 0 && !memory.write(Address{old}, bytes))) {
    return false;
  }
  put(tid, *after & ~kTrap);
  blocks_trap_ = (*after & kTrap) != 0;
  if (unblocked_mask_) {
    unblocked_mask_ = *after & ~kTrap;
  }
  if (!blocks_trap_) {
    send_held_trap(tid);
  }
  return true;
}

}  // namespace sp::supervisor
