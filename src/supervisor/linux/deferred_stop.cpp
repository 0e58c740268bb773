#include "supervisor/linux/deferred_stop.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

std::atomic<std::uint64_t> g_begun = 0;
std::atomic<std::uint64_t> g_ended = 0;

}  // namespace

DeferredStop::DeferredStop() { ++g_begun; }

DeferredStop::~DeferredStop() { ++g_ended; }

int DeferredStop::take_signal() { return std::exchange(is_to_be_delivered, false) ? SIGSTOP : 0; }

void DeferredStop::end(pid_t tid) const {
  if (ours) {
    ::syscall(SYS_tkill, tid, SIGSTOP);
  }
  if (is_to_be_delivered) {
    ::kill(tid, SIGSTOP);  // the thread was never resumed from it
  } else if (of_others) {
    (void)ptrace::interrupt(tid);
  }
}

DeferralWatch::DeferralWatch() : ended_before_(g_ended) {}

bool DeferralWatch::saw_none() const { return g_begun == ended_before_; }

}  // namespace sp::supervisor
