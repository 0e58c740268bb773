#include "supervisor/guardian/pending_stops.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// The pid was not given to another process since.
bool is_same_process(const PendingStops& entry) {
  const auto stat = read_stat(entry.pid);
  return stat && stat->start_time == entry.start_time;
}

}  // namespace

void PendingStops::note_start_time() {
  if (start_time == 0) {
    const auto stat = read_stat(pid);
    start_time = stat ? stat->start_time : 0;
  }
}

PendingStops* PendingStopTable::add(pid_t pid) {
  for (PendingStops& entry : entries) {
    if (entry.pid == 0) {
      entry.start_time = 0;
      entry.stops_in_flight = 0;
      entry.stopped_by_others = false;
      entry.minds_sigstop = false;
      entry.pid = pid;
      return &entry;
    }
  }
  return nullptr;
}

bool PendingStopTable::any_in_flight() const {
  return std::any_of(entries.begin(), entries.end(), [](const PendingStops& entry) {
    return entry.pid != 0 && entry.stops_in_flight > 0;
  });
}

void PendingStopTable::undo() {
  // A SIGCONT that arrives while a thread is in the delivery of our SIGSTOP cancels that SIGSTOP's
  // effect (prepare_signal() in kernel/signal.c); one that arrives later continues the process.
  // Which of the two happens is a race with the kernel's detaching the tracees, so check for a
  // while.
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; ++round) {
    bool any = false;
    for (PendingStops& entry : entries) {
      if (entry.pid == 0 || entry.stops_in_flight <= 0 || entry.stopped_by_others ||
          !is_same_process(entry)) {
        continue;
      }
      any = true;
      const auto stat = read_stat(entry.pid);
      if (round == 0 || (stat && stat->state == 'T')) {
        ::kill(entry.pid, SIGCONT);
      }
    }
    if (!any) {
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(round < 20 ? 2 : 10));
  }
}

}  // namespace sp::supervisor
