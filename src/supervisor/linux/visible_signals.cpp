#include "supervisor/linux/visible_signals.h"

#include <signal.h>

#include <cstdint>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// Signals that are ignored by default (SIGCONT if nothing is stopped); signal(7).
constexpr std::uint64_t kIgnoredByDefault =
    signal_bit(SIGCHLD) | signal_bit(SIGURG) | signal_bit(SIGWINCH) | signal_bit(SIGCONT);

/// Whether one of these signals would have interrupted the call of an untraced program.
bool has_effect(const SignalMasks& masks, std::uint64_t signals) {
  return (signals & (masks.caught | ~(masks.ignored | kIgnoredByDefault))) != 0;
}

}  // namespace

bool sees_signal(pid_t tid, int signal) {
  const auto masks = read_signal_masks(tid);
  if (!masks) {
    return true;
  }
  // A SIGSTOP that is pending for this thread alone is our own next one.
  const std::uint64_t pending =
      (masks->thread_pending & ~signal_bit(SIGSTOP)) | masks->process_pending;
  const std::uint64_t waiting =
      (pending & ~masks->blocked) | (signal != 0 ? signal_bit(signal) : 0);
  return has_effect(*masks, waiting);
}

}  // namespace sp::supervisor
