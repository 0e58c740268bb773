#include "supervisor/channels/control_signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace sp::supervisor {
namespace {

// Changed by us, so put back in a child. SIGPIPE and SIGXFSZ would kill us while we write files;
// with SIGCHLD ignored the kernel would throw the target's exit status away.
constexpr std::array<int, 3> kChanged = {SIGPIPE, SIGXFSZ, SIGCHLD};

struct StartState {
  sigset_t mask;
  std::array<struct sigaction, kChanged.size()> actions;
};
StartState g_start;

// SIGHUP is the last one, so that it can be left out.
constexpr std::array<int, 8> kControl = {SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                         SIGTSTP, SIGTTIN, SIGTTOU, SIGHUP};
bool g_hangup_ignored = false;

int bell_signal() { return SIGRTMIN; }

void do_nothing(int /*signal*/) {}

}  // namespace

void WakeupSignal::target_this_thread() {
  tid_ = static_cast<pid_t>(::syscall(SYS_gettid));
  struct sigaction action {};
  action.sa_handler = do_nothing;  // without SA_RESTART: wait(2) comes back with EINTR
  ::sigaction(bell_signal(), &action, nullptr);
  sigset_t bell;
  ::sigemptyset(&bell);
  ::sigaddset(&bell, bell_signal());
  ::pthread_sigmask(SIG_UNBLOCK, &bell, nullptr);
}

void WakeupSignal::send() {
  rung_ = true;
  resend();
}

void WakeupSignal::resend() {
  if (rung_ && tid_ != 0) {
    ::syscall(SYS_tgkill, ::getpid(), tid_, bell_signal());
  }
}

void block_control_signals() {
  for (std::size_t i = 0; i < kChanged.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = kChanged[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
    ::sigaction(kChanged[i], &action, &g_start.actions[i]);
  }
  sigset_t ours;
  ::sigemptyset(&ours);
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  g_hangup_ignored = hangup.sa_handler == SIG_IGN;
  for (const int signal : control_signals()) {
    ::sigaddset(&ours, signal);
  }
  ::pthread_sigmask(SIG_BLOCK, &ours, &g_start.mask);
}

std::span<const int> control_signals() {
  return {kControl.data(), kControl.size() - (g_hangup_ignored ? 1 : 0)};
}

void take_signals_until(core::TimePoint deadline, UserRequests& user_requests,
                        WakeupSignal& wakeup) {
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int signal : control_signals()) {
    ::sigaddset(&ours, signal);
  }
  const auto left = std::max(deadline - core::Clock::now(), core::Duration{});
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
  const timespec timeout{whole.count(), (left - whole).count()};
  const int signal = ::sigtimedwait(&ours, nullptr, &timeout);
  switch (signal) {
    case SIGINT:
    case SIGQUIT:
      ++user_requests.interrupts;
      break;
    case SIGTERM:
    case SIGHUP:
      user_requests.terminate = true;
      break;
    case SIGUSR1:
      ++user_requests.snapshots;
      break;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
      user_requests.suspend = true;
      break;
    default:
      return;  // the time was up
  }
  wakeup.send();
}

void restore_signals_for_child() {
  for (std::size_t i = 0; i < kChanged.size(); ++i) {
    ::sigaction(kChanged[i], &g_start.actions[i], nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &g_start.mask, nullptr);
}

}  // namespace sp::supervisor
