#include "supervisor/channels/control_signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace sp::supervisor {
namespace {

// Dispositions that we change, and restore in a child. SIGPIPE and SIGXFSZ would kill us while we
// write files; with SIGCHLD ignored the kernel would discard the target's exit status.
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

sigset_t control_signal_set() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : control_signals()) {
    ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

void block_control_signals() {
  for (std::size_t i = 0; i < kChanged.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = kChanged[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
    ::sigaction(kChanged[i], &action, &g_start.actions[i]);
  }
  struct sigaction hangup {};
  ::sigaction(SIGHUP, nullptr, &hangup);
  g_hangup_ignored = hangup.sa_handler == SIG_IGN;
  const sigset_t ours = control_signal_set();
  ::pthread_sigmask(SIG_BLOCK, &ours, &g_start.mask);
}

std::span<const int> control_signals() {
  return {kControl.data(), kControl.size() - (g_hangup_ignored ? 1 : 0)};
}

void take_signals_until(core::TimePoint deadline, UserRequests& user_requests,
                        WakeupSignal& wakeup) {
  const sigset_t ours = control_signal_set();
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
      return;  // the deadline has passed
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
