#include "supervisor/tracees/world_stop.h"

#include <fmt/format.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>
#include <variant>

#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

// linux/sched.h: PF_IO_WORKER and PF_USER_WORKER, kernel threads that belong to a process
// (io_uring, vhost). They execute none of its code and cannot be traced.
constexpr std::uint64_t kKernelWorker = 0x10 | 0x4000;

/// What /proc/PID/task/TID/syscall says of a thread that is running or about to.
constexpr std::string_view kRunning = "running\n";

constexpr std::string_view kStopping = "stopping all threads";

/// A short sleep on the way to a deadline, in which the threads get the CPU.
void pause_for(core::Duration time) {
  const timespec pause{0, time.count()};
  (void)::ppoll(nullptr, 0, &pause, nullptr);
}

/// Changes whenever the thread has run.
std::string schedule_of(pid_t process, pid_t tid) {
  auto text = read_proc(fmt::format("/proc/{}/task/{}/schedstat", process, tid));
  if (text && !text->starts_with("0 ")) {
    return *std::move(text);
  }
  const auto status = read_proc(fmt::format("/proc/{}/task/{}/status", process, tid));
  return status ? status->substr(status->find("voluntary_ctxt_switches")) : std::string{};
}

std::string syscall_line(pid_t process, pid_t tid) {
  return read_proc(fmt::format("/proc/{}/task/{}/syscall", process, tid)).value_or("");
}

/// It will not report again, or only its end: a leader that ends before its threads says nothing.
bool has_ended(pid_t tid) {
  const auto stat = read_stat(tid);
  return !stat || stat->state == 'Z' || stat->state == 'X';
}

bool waits_for_disk(pid_t tid) {
  const auto stat = read_stat(tid);
  return stat && stat->state == 'D';
}

bool is_in_call(const std::optional<BlockedCall>& call) { return call && call->number >= 0; }

}  // namespace

WorldStop::WorldStop(TraceeTable& tracees, const TracedProcess& of)
    : tracees_(&tracees), began_(core::Clock::now()) {
  processes_.push_back(of.id.pid);
  if (of.code_state == nullptr) {
    return;
  }
  for (const Tracee* const tracee : tracees.in(*of.code_state)) {
    const pid_t pid = tracee->process->id.pid;
    if (std::find(processes_.begin(), processes_.end(), pid) == processes_.end()) {
      processes_.push_back(pid);
    }
  }
}

core::Result<WorldStop> WorldStop::stop(TraceeTable& tracees, const Tracee& stopped,
                                        core::Duration limit) {
  WorldStop world(tracees, *stopped.process);
  world.hold(stopped);
  return finish(std::move(world), limit);
}

core::Result<WorldStop> WorldStop::stop(TraceeTable& tracees, const TracedProcess& process,
                                        core::Duration limit) {
  return finish(WorldStop(tracees, process), limit);
}

core::Result<WorldStop> WorldStop::stop_most(TraceeTable& tracees, const TracedProcess& process,
                                             core::Duration limit) {
  WorldStop world(tracees, process);
  world.leaves_some_ = true;
  return finish(std::move(world), limit);
}

core::Result<WorldStop> WorldStop::stop_most(TraceeTable& tracees, const Tracee& stopped,
                                             core::Duration limit) {
  WorldStop world(tracees, *stopped.process);
  world.hold(stopped);
  world.leaves_some_ = true;
  return finish(std::move(world), limit);
}

void WorldStop::hold(const Tracee& stopped) {
  seen_.insert(stopped.id.tid);
  held_.push_back({stopped.id.tid, stopped.process->id.pid, NotAStop{}});
}

core::Result<WorldStop> WorldStop::finish(WorldStop world, core::Duration limit) {
  if (auto done = world.stop_rest(world.began_ + limit); !done) {
    return tl::unexpected(done.error());
  }
  return world;
}

std::vector<std::pair<pid_t, BlockedCall>> WorldStop::sleepers() const {
  std::vector<std::pair<pid_t, BlockedCall>> calls;
  calls.reserve(asleep_.size());
  for (const Sleeper& sleeper : asleep_) {
    calls.emplace_back(sleeper.task.tid, parse_syscall(sleeper.call).value_or(BlockedCall{}));
  }
  return calls;
}

bool WorldStop::holds(pid_t tid) const {
  return std::any_of(held_.begin(), held_.end(),
                     [tid](const HeldThread& held) { return held.tid == tid; });
}

core::Result<std::size_t> WorldStop::stop_woken(core::Duration limit) {
  const std::size_t before = held_.size();
  if (auto done = stop_rest(core::Clock::now() + limit); !done) {
    return tl::unexpected(done.error());
  }
  return held_.size() - before;
}

core::Result<void> WorldStop::stop_rest(core::TimePoint until) {
  for (;;) {
    const auto is_new = take_new_tasks();
    const auto done = is_new ? await_stops(until) : tl::unexpected(is_new.error());
    const auto woke = done ? take_woken() : tl::unexpected(done.error());
    auto settled = woke ? await_stops(until) : tl::unexpected(woke.error());
    if (!settled) {
      return settled;
    }
    // Who was stopped now can have created a task before.
    if (!*is_new && !*woke) {
      return {};
    }
    if (core::Clock::now() > until) {
      return leaves_some_ ? take_reported() : core::fail(std::string(kStopping), ETIMEDOUT);
    }
  }
}

core::Result<bool> WorldStop::take_new_tasks() {
  bool is_new = false;
  for (const pid_t process : processes_) {
    const auto tids = list_threads(process);
    for (const pid_t tid : tids ? *tids : std::vector<pid_t>{}) {
      if (!seen_.insert(tid).second) {
        continue;
      }
      is_new = true;
      if (auto done = take({tid, process}); !done) {
        return tl::unexpected(done.error());
      }
    }
  }
  return is_new;
}

core::Result<void> WorldStop::take(Task task) {
  std::string line = syscall_line(task.process, task.tid);
  if (line == kRunning) {
    return interrupt(task, std::nullopt);
  }
  const auto reported = has_reported(task);
  if (!reported || *reported) {
    return reported ? core::Result<void>{} : tl::unexpected(reported.error());
  }
  const auto call = parse_syscall(line);
  const bool waits_for_page = leaves_some_ && call && waits_for_disk(task.tid);
  if (is_in_call(call) || waits_for_page) {
    asleep_.push_back({task, std::move(line), schedule_of(task.process, task.tid)});
    return {};
  }
  return interrupt(task, call);
}

core::Result<void> WorldStop::interrupt(Task task, const std::optional<BlockedCall>& call) {
  if (call && !is_in_call(call) && !leaves_some_ && waits_for_disk(task.tid)) {
    return core::fail(std::string(kStopping), EAGAIN);
  }
  Tracee* const tracee = tracees_->find(task.tid);
  const auto done =
      tracee != nullptr ? supervisor::interrupt(*tracee, call) : ptrace::interrupt(task.tid);
  if (done) {
    awaited_.push_back(task);
    return {};
  }
  const auto reported = has_reported(task);  // it has ended, or is not ours
  if (reported && !*reported && !has_ended(task.tid)) {
    awaited_.push_back(task);
  }
  return reported ? core::Result<void>{} : tl::unexpected(reported.error());
}

core::Result<bool> WorldStop::has_reported(Task task) {
  const auto report = ptrace::look(task.tid);
  if (!report) {
    const auto stat = read_stat(task.tid);
    const bool is_ours_to_stop = stat && stat->state != 'Z' && stat->state != 'X' &&
                                 (stat->flags & kKernelWorker) == 0 &&
                                 read_thread_group(task.tid) == task.process;
    return is_ours_to_stop && !leaves_some_
               ? core::Result<bool>(core::fail(std::string(kStopping), EPERM))
               : true;
  }
  if (!*report) {
    return false;
  }
  const WaitStatus status = parse_wait_status((*report)->status);
  tracees_->left_report(task.tid);
  const auto* const event = std::get_if<EventStop>(&status);
  if (event != nullptr && event->event == Event::exec) {
    // Another process than `of` has left the memory that they had in common.
    return task.process != processes_.front() ? core::Result<bool>(true)
                                              : core::fail(std::string(kStopping), EAGAIN);
  }
  if (!std::holds_alternative<Exited>(status) && !std::holds_alternative<Killed>(status)) {
    held_.push_back({task.tid, task.process, status});
  }
  return true;
}

core::Result<void> WorldStop::await_stops(core::TimePoint until) {
  constexpr core::Duration kShortest = std::chrono::microseconds(10);
  constexpr core::Duration kLongest = std::chrono::microseconds(500);
  core::Duration pause = kShortest;
  // One after the other: who stops meanwhile needs one look.
  while (!awaited_.empty()) {
    const auto reported = has_reported(awaited_.back());
    if (!reported) {
      return tl::unexpected(reported.error());
    }
    if (*reported || (pause == kLongest && has_ended(awaited_.back().tid))) {
      awaited_.pop_back();
      pause = kShortest;
      continue;
    }
    if (core::Clock::now() > until) {
      return leaves_some_ ? core::Result<void>{} : core::fail(std::string(kStopping), ETIMEDOUT);
    }
    pause_for(pause);
    pause = std::min(pause * 2, kLongest);
  }
  return {};
}

core::Result<void> WorldStop::take_reported() {
  for (auto task = awaited_.begin(); task != awaited_.end();) {
    const auto reported = has_reported(*task);
    if (!reported) {
      return tl::unexpected(reported.error());
    }
    task = *reported ? awaited_.erase(task) : task + 1;
  }
  return {};
}

core::Result<bool> WorldStop::take_woken() {
  bool woke = false;
  std::vector<Sleeper> before = std::exchange(asleep_, {});
  for (Sleeper& sleeper : before) {
    const Task task = sleeper.task;
    auto reported = has_reported(task);
    if (!reported) {
      return reported;
    }
    if (*reported) {
      woke = true;
      continue;
    }
    const std::string line = syscall_line(task.process, task.tid);
    if (line == sleeper.call && schedule_of(task.process, task.tid) == sleeper.schedule) {
      asleep_.push_back(std::move(sleeper));
      continue;
    }
    // Also if it sleeps again: who wakes all the time would be looked at for ever.
    woke = true;
    if (auto done = interrupt(task, parse_syscall(line)); !done) {
      return tl::unexpected(done.error());
    }
  }
  return woke;
}

}  // namespace sp::supervisor
