#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/address.h"
#include "core/ids.h"
#include "supervisor/injection/transfer_area.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/short_transfer.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor {

/// Completes transfers that a stop has cut short: a write, send, sendfile, splice, ... returns what
/// has been transferred so far if a signal or a stop wakes its thread, and programs may take that
/// for an error. The thread makes the rest itself, in code of ours (TransferArea) that adds up the
/// results and goes back: it needs us no more, whether we detach it or are killed. At any stop in
/// between the thread is first put back to where its call returns with the sum so far, and stays
/// there if the program sees a signal. Runs on the ptrace thread.
class TransferRests {
 public:
  /// The first stop of a thread that we have attached to. If it was sent into a rest by an earlier
  /// superprofiler, it is put to where its call returns with the sum so far.
  void take_over(core::ProcessId process, core::ThreadId thread);

  /// A thread has stopped; call it before anything else looks at its registers. True if it was
  /// only a step or a system call within a rest: the thread runs again. `resume` lets it run if
  /// that step was the last, and it is where its call returns. `is_awaited`: somebody waits for an
  /// interrupt stop of the thread.
  [[nodiscard]] bool on_stop(core::ThreadId thread, const WaitStatus& status, bool is_awaited,
                             const std::function<void()>& resume);

  /// The stopped thread is about to run, delivering `signal` (0: none). If it is about to return
  /// from a transfer that is short because of the stop, it makes the rest first.
  void begin(core::ProcessId process, core::ThreadId thread, int signal);

  /// The thread is about to be detached.
  void forget(core::ProcessId process, core::ThreadId thread);
  /// At the end: removes the code from all processes in which no thread can be in it.
  void remove_code() const;

 private:
  struct Rest {
    ptrace::Registers returning;  // with what was transferred before
    TransferArea area;
    bool is_stepped = false;
  };
  const std::optional<TransferArea>& area_of(core::ProcessId process, pid_t tid);

  std::unordered_map<core::ThreadId, Rest> rests_;
  std::unordered_map<core::ProcessId, std::optional<TransferArea>> areas_;
  std::unordered_set<core::ProcessId> left_in_;  // with a thread that was detached in the code
};

}  // namespace sp::supervisor
