#include "supervisor/tracees/tracee.h"

#include <utility>

namespace sp::supervisor {

Tracee* TraceeTable::find(pid_t tid) {
  const auto found = tracees_.find(tid);
  return found == tracees_.end() ? nullptr : &found->second;
}

std::shared_ptr<TracedProcess> TraceeTable::find_process(pid_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : found->second;
}

Tracee& TraceeTable::add(pid_t tid, std::shared_ptr<TracedProcess> process) {
  Tracee tracee;
  tracee.id = {tid, ++next_thread_};
  ++process->threads;
  tracee.process = std::move(process);
  return tracees_.insert_or_assign(tid, std::move(tracee)).first->second;
}

std::shared_ptr<TracedProcess> TraceeTable::add_process(pid_t pid) {
  auto process = std::make_shared<TracedProcess>();
  process->id = {pid, ++next_process_};
  process->began = core::Clock::now();
  processes_[pid] = process;
  return process;
}

std::shared_ptr<TracedProcess> TraceeTable::exec_process(pid_t pid) {
  ++execs_;
  return add_process(pid);
}

}  // namespace sp::supervisor
