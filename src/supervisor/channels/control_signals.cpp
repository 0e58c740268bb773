#include "supervisor/channels/control_signals.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace sp::supervisor {
namespace {

constexpr int kSignals = 65;

/// What superprofiler was started with, to be restored in a child.
struct StartState {
  sigset_t mask;
  std::array<struct sigaction, kSignals> actions;  // by number
};
StartState g_start;

// SIGHUP is the last one, so that it can be left out.
constexpr std::array<int, 8> kControl = {SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                         SIGTSTP, SIGTTIN, SIGTTOU, SIGHUP};
bool g_hangup_ignored = false;

bool is_control(int signal) {
  return std::find(kControl.begin(), kControl.end(), signal) != kControl.end() || signal == SIGCONT;
}

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
  for (int signal = 1; signal < kSignals; ++signal) {
    auto& before = g_start.actions.at(static_cast<std::size_t>(signal));
    ::sigaction(signal, nullptr, &before);
    struct sigaction action {};
    if (signal == SIGCHLD) {
      ::sigaction(signal, &action, nullptr);  // ignored, the target's exit status would be lost
    } else if (before.sa_handler == SIG_DFL && !is_control(signal)) {
      // The target's process group may be ours, and get any signal. A fault of our own is fatal all
      // the same.
      action.sa_handler = SIG_IGN;
      ::sigaction(signal, &action, nullptr);
    }
  }
  g_hangup_ignored = g_start.actions.at(SIGHUP).sa_handler == SIG_IGN;
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
  for (int signal = 1; signal < kSignals; ++signal) {
    ::sigaction(signal, &g_start.actions.at(static_cast<std::size_t>(signal)), nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &g_start.mask, nullptr);
}

}  // namespace sp::supervisor
