#pragma once

#include <signal.h>
#include <sys/types.h>

#include "core/result.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Keeps the signal of a stop over calls made in it.
class KeptSignal {
 public:
  explicit KeptSignal(pid_t tid) : tid_(tid), info_(ptrace::signal_info(tid)) {}
  KeptSignal(const KeptSignal&) = delete;
  KeptSignal& operator=(const KeptSignal&) = delete;
  ~KeptSignal() {
    if (info_) {
      (void)ptrace::set_signal_info(tid_, *info_);
    }
  }

 private:
  pid_t tid_;
  core::Result<siginfo_t> info_;
};

}  // namespace sp::supervisor
