#include "supervisor/tracees/tracee.h"

#include <algorithm>
#include <utility>

#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

core::Result<void> interrupt(Tracee& tracee) {
  tracee.interrupted_call.look(tracee.id.tid);
  tracee.sleep_remain.note(tracee.id.tid);
  return ptrace::interrupt(tracee.id.tid);
}

core::Result<void> interrupt(Tracee& tracee, const std::optional<BlockedCall>& call) {
  tracee.interrupted_call.look(tracee.id.tid);
  tracee.sleep_remain.note(tracee.id.tid, call);
  return ptrace::interrupt(tracee.id.tid);
}

Tracee* TraceeTable::find(pid_t tid) {
  const auto found = tracees_.find(tid);
  return found == tracees_.end() ? nullptr : &found->second;
}

std::shared_ptr<TracedProcess> TraceeTable::find_process(pid_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : found->second;
}

std::vector<Tracee*> TraceeTable::in(const CodeState& code) {
  std::vector<Tracee*> found;
  for (auto& [tid, tracee] : tracees_) {
    if (tracee.process->code_state.get() == &code) {
      found.push_back(&tracee);
    }
  }
  return found;
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
  process->cpu = std::make_shared<ProcessCpu>(pid);
  processes_[pid] = process;
  return process;
}

std::shared_ptr<TracedProcess> TraceeTable::exec_process(pid_t pid) {
  ++execs_;
  const auto before = find_process(pid);
  auto process = add_process(pid);
  if (before != nullptr) {
    process->cpu = before->cpu;
  }
  return process;
}

std::optional<pid_t> TraceeTable::next_left_report() {
  constexpr std::size_t kBetweenTurns = 64;
  if (left_reports_.empty() && ++asked_ >= std::max(kBetweenTurns, tracees_.size())) {
    asked_ = 0;
    for (const auto& [tid, tracee] : tracees_) {
      left_reports_.push_back(tid);
    }
  }
  if (left_reports_.empty()) {
    return std::nullopt;
  }
  const pid_t tid = left_reports_.front();
  left_reports_.pop_front();
  return tid;
}

}  // namespace sp::supervisor
