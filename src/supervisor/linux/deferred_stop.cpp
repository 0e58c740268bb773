#include "supervisor/linux/deferred_stop.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace sp::supervisor {
namespace {

std::atomic<std::uint64_t> g_begun = 0;
std::atomic<std::uint64_t> g_ended = 0;

}  // namespace

DeferredStop::DeferredStop() { ++g_begun; }

DeferredStop::~DeferredStop() { ++g_ended; }

void DeferredStop::send_again(pid_t tid) const {
  if (ours) {
    ::syscall(SYS_tkill, tid, SIGSTOP);
  }
  if (of_others) {
    ::kill(tid, SIGSTOP);
  }
}

DeferralWatch::DeferralWatch() : ended_before_(g_ended) {}

bool DeferralWatch::saw_none() const { return g_begun == ended_before_; }

}  // namespace sp::supervisor
