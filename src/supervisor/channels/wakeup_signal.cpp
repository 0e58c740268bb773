#include "supervisor/channels/wakeup_signal.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sp::supervisor {
namespace {

int wakeup_signal() { return SIGRTMIN; }

void do_nothing(int /*signal*/) {}

}  // namespace

void WakeupSignal::target_this_thread() {
  tid_ = static_cast<pid_t>(::syscall(SYS_gettid));
  struct sigaction action {};
  action.sa_handler = do_nothing;  // without SA_RESTART: wait(2) returns EINTR
  ::sigaction(wakeup_signal(), &action, nullptr);
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, wakeup_signal());
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void WakeupSignal::interrupt(pid_t tid) { ::syscall(SYS_tgkill, ::getpid(), tid, wakeup_signal()); }

void WakeupSignal::send() {
  sent_ = true;
  resend();
}

void WakeupSignal::resend() {
  if (sent_ && tid_ != 0) {
    interrupt(tid_);
  }
}

}  // namespace sp::supervisor
