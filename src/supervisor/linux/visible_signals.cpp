#include "supervisor/linux/visible_signals.h"

#include <signal.h>

#include <cstdint>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

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
  return masks->have_effect(waiting);
}

}  // namespace sp::supervisor
