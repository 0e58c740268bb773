#pragma once

#include <span>

#include "core/clock.h"
#include "supervisor/channels/user_requests.h"
#include "supervisor/channels/wakeup_signal.h"

namespace sp::supervisor {

/// Blocks the signals by which users control superprofiler, for the calling thread and all threads
/// that it starts later. The timer thread takes them with take_signals_until(). Also sets the
/// dispositions that superprofiler needs.
void block_control_signals();

/// The control signals. SIGHUP is not among them if superprofiler was started with it ignored
/// (nohup).
[[nodiscard]] std::span<const int> control_signals();

/// Waits until `deadline` for a control signal and turns it into a user request. Returns after the
/// first. Runs on the timer thread.
void take_signals_until(core::TimePoint deadline, UserRequests& user_requests,
                        WakeupSignal& wakeup);

/// Restores, in a forked child, the signal mask and dispositions that superprofiler was started
/// with. Only async-signal-safe calls.
void restore_signals_for_child();

}  // namespace sp::supervisor
