#include "supervisor/crash_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "arch/native.h"
#include "supervisor/crash_signal.h"
#include "supervisor/crash_threads.h"
#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

/// Threads are stopped and their stacks copied so long.
constexpr core::Duration kLongestCopy = std::chrono::milliseconds(1500);
/// From the signal's delivery on.
constexpr core::Duration kLongestHold = std::chrono::seconds(2);

/// Nobody else runs in its memory.
bool has_code_of_its_own(const TracedProcess& process) {
  const InstrumentedCode* const code = instrumented_code(process);
  return code == nullptr || code->owner() == process.id;
}

}  // namespace

void CrashWatch::on_delivery(Tracee& tracee, int signal) {
  const TracedProcess& process = *tracee.process;
  if (parts_.run.releasing || !process.followed || !process.profiled ||
      !dies_with_core(tracee, signal)) {
    return;
  }
  const bool is_known = std::any_of(dying_.begin(), dying_.end(), [&](const Dying& one) {
    return one.process == process.id;  // another thread of it was first
  });
  if (is_known) {
    return;
  }
  const core::TimePoint now = core::Clock::now();
  parts_.lifecycle.flush_own(process, tracee.id);  // the counts so far are by the maps so far
  CrashThreads threads = CrashThreads::stop(parts_.lifecycle.tracees(), tracee);
  if (parts_.instrument != nullptr) {
    threads.restore_code(*parts_.instrument);
  }
  dying_.push_back({process.id, tracee.id, now + kLongestHold});
  if (!reports_) {
    dying_.back().is_resolved = true;
    return;
  }
  core::Crashed crash;
  const auto registers = own_registers(tracee);
  crash.signal = crash_signal(tracee.id.tid, signal,
                              registers ? arch::Native::pc(*registers) : core::Address());
  threads.copy_stacks(parts_.instrument, crash, now + kLongestCopy);
  parts_.sampler.send_maps(*tracee.process, tracee.id, now);
  parts_.outbox.deliver({process.id, tracee.id, now, std::move(crash)});
}

bool CrashWatch::holds(const Tracee& tracee) {
  const auto found = std::find_if(dying_.begin(), dying_.end(),
                                  [&](const Dying& one) { return one.thread == tracee.id; });
  if (found == dying_.end() || found->is_held) {
    return false;
  }
  if (found->is_resolved || parts_.run.over || parts_.run.releasing ||
      !has_code_of_its_own(*tracee.process) || core::Clock::now() >= found->until) {
    dying_.erase(found);
    return false;
  }
  // A stop that is only watched would be reported all the time. Nothing is lost if we are killed:
  // it exits.
  if (parts_.instrument != nullptr) {
    (void)ptrace::take(tracee.id.tid, false);
  }
  found->is_held = true;
  parts_.user.holds_crashed = true;
  return true;
}

void CrashWatch::on_resolved(core::ProcessId process) {
  for (Dying& one : dying_) {
    one.is_resolved = one.is_resolved || one.process == process;
  }
  serve();
}

void CrashWatch::serve() {
  if (dying_.empty()) {
    return;
  }
  const core::TimePoint now = core::Clock::now();
  bool holds_some = false;
  std::erase_if(dying_, [&](const Dying& one) {
    const bool is_over = now >= one.until || parts_.run.over;
    const Tracee* const tracee = parts_.lifecycle.tracees().find(one.thread.tid);
    if (one.is_held && (one.is_resolved || is_over) && tracee != nullptr &&
        tracee->id == one.thread) {
      (void)ptrace::resume(one.thread.tid, 0);
    }
    holds_some = holds_some || (one.is_held && !one.is_resolved && !is_over);
    return is_over || (one.is_held && one.is_resolved);
  });
  parts_.user.holds_crashed = holds_some;
}

}  // namespace sp::supervisor
