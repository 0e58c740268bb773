// Who is traced: processes and threads come and go. A part of Supervisor.
#include <fmt/format.h>
#include <sys/types.h>

#include <charconv>
#include <string>
#include <utility>

#include "supervisor/breakpoints/memory_origin.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/supervisor.h"

namespace sp::supervisor {
namespace {

std::uint64_t start_time_of(pid_t pid) {
  const auto stat = read_stat(pid);
  return stat ? stat->start_time : 0;
}

}  // namespace

std::shared_ptr<TracedProcess> Supervisor::add_process(pid_t pid, core::ProcessId parent) {
  auto process = tracees_.add_process(pid);
  process->guard = guardian_.guard(pid, start_time_of(pid));
  announce(*process, parent);
  return process;
}

std::shared_ptr<TracedProcess> Supervisor::exec_process(
    const std::shared_ptr<TracedProcess>& before) {
  auto process = tracees_.exec_process(before->id.pid);
  process->guard = guardian_.guard(before->id.pid, start_time_of(before->id.pid));
  announce(*process, before->id);
  return process;
}

void Supervisor::announce(const TracedProcess& process, core::ProcessId parent) {
  std::string command;
  for (const std::string& word : read_command_line(process.id.pid)) {
    command += (command.empty() ? "" : " ") + word;
  }
  outbox_.deliver(
      {process.id, {}, core::Clock::now(), core::ProcessStarted{parent, std::move(command)}});
}

Tracee* Supervisor::adopt(pid_t tid) {
  const auto group = read_thread_group(tid);
  if (!group) {
    return nullptr;
  }
  auto process = tracees_.find_process(*group);
  if (process == nullptr) {
    core::ProcessId parent;
    const auto status = read_proc(fmt::format("/proc/{}/status", tid));
    const auto field = status ? status_field(*status, "PPid") : std::nullopt;
    pid_t parent_pid = 0;
    if (field && std::from_chars(field->data(), field->data() + field->size(), parent_pid).ec ==
                     std::errc{}) {
      if (const auto known = tracees_.find_process(parent_pid)) {
        parent = known->id;
      }
    }
    process = add_process(*group, parent);
    if (exact_) {
      begin_counting_child(*process, tid, parent);
    } else if (probes_) {
      begin_probing_child(*process, tid, parent);
    }
  }
  return &add_tracee(tid, *group, process);
}

void Supervisor::on_forked(const Tracee& tracee) {
  const auto child = may_insert() ? ptrace::event_message(tracee.id.tid) : core::fail("");
  if (!child) {
    return;
  }
  const auto tid = static_cast<pid_t>(*child);
  Tracee* const known = tracees_.find(tid);
  if (tracee.process->probed != nullptr && known == nullptr) {
    probed_origins_[tid] = tracee.process->probed;
  }
  if (tracee.process->counted == nullptr) {
    return;
  }
  if (known != nullptr) {
    known->counted.blocks_trap = known->counted.blocks_trap || tracee.counted.blocks_trap;
  } else {
    origins_[tid] = ExactCounter::origin_of(tracee);
  }
}

/// Where a child comes from that was quicker than its parent's report, or whose parent was killed
/// in the call. By its parent's number alone that cannot be said: it may have got another one.
template <typename Code>
std::shared_ptr<Code> Supervisor::find_unannounced(std::shared_ptr<Code> TracedProcess::*code,
                                                   pid_t tid, core::ProcessId parent) {
  const auto known = tracees_.find_process(parent.pid);
  if (auto of_known = known != nullptr ? (*known).*code : nullptr;
      of_known != nullptr && memory_origin(*of_known, tid) != MemoryOrigin::other_process) {
    return of_known;
  }
  for (const Ended& ended : ended_) {
    if (auto of_ended = (*ended.process).*code;
        of_ended != nullptr && memory_origin(*of_ended, tid) == MemoryOrigin::copy) {
      return of_ended;
    }
  }
  return nullptr;
}

void Supervisor::begin_counting_child(TracedProcess& process, pid_t tid, core::ProcessId parent) {
  ExactCounter::Origin origin;
  if (const auto announced = origins_.find(tid); announced != origins_.end()) {
    origin = announced->second;
  } else {
    origin = {find_unannounced(&TracedProcess::counted, tid, parent), 0, false};
  }
  if (origin.code == nullptr) {
    return;
  }
  if (releasing_) {
    origin.certain = 0;  // its parent's breakpoints went at some time around the fork
  }
  exact_->begin_child(process, tid, origin);
  process.followed = options_.follow_forks;
  const bool is_let_go = !process.followed && process.counted != origin.code;
  if (releasing_ || is_let_go) {
    exact_->restore(process);
  }
  if (is_let_go) {
    process.counted = nullptr;
    process.profiled = false;
  }
}

void Supervisor::begin_probing_child(TracedProcess& process, pid_t tid, core::ProcessId parent) {
  std::shared_ptr<ProbedCode> origin;
  if (const auto announced = probed_origins_.find(tid); announced != probed_origins_.end()) {
    origin = std::move(announced->second);
  } else {
    origin = find_unannounced(&TracedProcess::probed, tid, parent);
  }
  process.followed = options_.follow_forks;
  if (origin != nullptr && process.followed) {
    probes_->begin_child(process, tid, origin);
    if (releasing_) {
      probes_->restore(process);
    }
  } else if (origin != nullptr) {
    probes_->clean_child(process, tid, origin);
  }
  // While it shares its parent's memory it has to be helped over the breakpoints.
  process.profiled = process.followed || process.probed != nullptr;
}

Tracee& Supervisor::add_tracee(pid_t tid, pid_t pid, std::shared_ptr<TracedProcess> process) {
  Tracee& tracee = tracees_.add(tid, std::move(process));
  outbox_.deliver({tracee.process->id, tracee.id, core::Clock::now(),
                   core::ThreadStarted{read_name(pid, tid)}});
  if (const auto origin = origins_.find(tid); origin != origins_.end()) {
    tracee.counted.blocks_trap = origin->second.blocks_trap;
    origins_.erase(origin);
  }
  probed_origins_.erase(tid);
  tracee.probed.counted = tracee.process->followed && (options_.all_threads || tid == pid);
  tracee.counted.counted = tracee.process->followed && (options_.all_threads || tid == pid);
  tracee.let_go = may_insert() && !tracee.process->profiled;
  if (!releasing_ && tracee.process->profiled && tracee.process->followed &&
      (options_.all_threads || tid == pid)) {
    tracee.slot = std::make_shared<SampleSlot>(tracee.process->id, tracee.id);
    tracee.slot->guard = tracee.process->guard;
    slots_.add(tracee.slot);
  }
  return tracee;
}

void Supervisor::remove_tracee(Tracee& tracee) {
  const auto process = tracee.process;
  const core::ThreadId thread = tracee.id;
  core::ThreadEnded ended{std::move(tracee.last_name)};
  if (tracee.slot != nullptr) {
    slots_.remove(tracee.slot);
  }
  if (process->exiting > 0) {
    --process->exiting;
  }
  --process->threads;
  tracees_.remove(thread.tid);
  outbox_.deliver({process->id, thread, core::Clock::now(), std::move(ended)});
  if (process->threads == 0) {
    end_process(process, thread);
  }
}

void Supervisor::remember_code(const std::shared_ptr<TracedProcess>& process) {
  constexpr std::size_t kMost = 16;
  constexpr core::Duration kLong = std::chrono::seconds(2);
  const core::TimePoint now = core::Clock::now();
  while (!ended_.empty() && (ended_.size() >= kMost || now - ended_.front().time > kLong)) {
    ended_.pop_front();
  }
  if (has_something_of_ours(*process)) {
    ended_.push_back({now, process});
  }
}

void Supervisor::end_process(const std::shared_ptr<TracedProcess>& process, core::ThreadId thread) {
  if (process->counted != nullptr && process->counted->owner() == process->id) {
    exact_->send_counts(*process, thread);
  }
  if (process->probed != nullptr && process->probed->owner() == process->id) {
    probes_->send_counts(*process, thread);
  }
  remember_code(process);
  Guardian::release(std::exchange(process->guard, nullptr));
  if (tracees_.find_process(process->id.pid) == process) {
    tracees_.forget_process(process->id.pid);
  }
  outbox_.deliver({process->id, thread, core::Clock::now(), core::ProcessEnded{}});
}

}  // namespace sp::supervisor
