#include "supervisor/linux/deferred_stop.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace sp::supervisor {
namespace {

std::atomic<std::uint64_t> begun = 0;
std::atomic<std::uint64_t> ended = 0;

}  // namespace

DeferredStop::DeferredStop() { ++begun; }

DeferredStop::~DeferredStop() { ++ended; }

void DeferredStop::send_again(pid_t tid) const {
  if (ours) {
    ::syscall(SYS_tkill, tid, SIGSTOP);
  }
  if (of_others) {
    ::kill(tid, SIGSTOP);
  }
}

DeferralWatch::DeferralWatch() : ended_before_(ended) {}

bool DeferralWatch::saw_none() const { return begun == ended_before_; }

}  // namespace sp::supervisor
