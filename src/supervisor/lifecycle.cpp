#include "supervisor/lifecycle.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "supervisor/breakpoints/memory_origin.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/linux/open_files.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/sampling_stop.h"

namespace sp::supervisor {
namespace {

std::string command_of(pid_t pid) {
  std::string command;
  for (const std::string& word : read_command_line(pid)) {
    command += (command.empty() ? "" : " ") + word;
  }
  return command;
}

/// The instrument's state of the process is its own, and not its vfork parent's.
bool owns_code(const TracedProcess& process) {
  const InstrumentedCode* const code = instrumented_code(process);
  return code != nullptr && code->owner() == process.id;
}

}  // namespace

std::shared_ptr<TracedProcess> Lifecycle::add_process(pid_t pid, const TracedProcess* parent) {
  auto process = tracees_.add_process(pid);
  if (parent == nullptr && !options_.follow_forks) {
    process->cpu = std::make_shared<ProcessCpu>(pid, true);
  }
  process->guard = guardian_.guard(pid);
  if (parent == nullptr) {
    look_for_sigcont_handler(*process, pid, core::Clock::now());
  } else if (process->guard != nullptr && parent->guard != nullptr) {
    process->guard->minds_sigstop = parent->guard->minds_sigstop.load();
  }
  process->command = parent != nullptr ? parent->command : command_of(pid);  // a fork's is the same
  announce(*process, parent != nullptr ? parent->id : core::ProcessId{});
  return process;
}

std::shared_ptr<TracedProcess> Lifecycle::exec_process(
    const std::shared_ptr<TracedProcess>& before) {
  auto process = tracees_.exec_process(before->id.pid);
  process->guard = guardian_.guard(before->id.pid);
  process->command = command_of(before->id.pid);
  announce(*process, before->id);
  return process;
}

void Lifecycle::announce(const TracedProcess& process, core::ProcessId parent) {
  outbox_.deliver(
      {process.id, {}, core::Clock::now(), core::ProcessStarted{parent, process.command}});
}

Tracee* Lifecycle::adopt(pid_t tid) {
  const auto group = read_thread_group(tid);
  if (!group) {
    return nullptr;
  }
  auto process = tracees_.find_process(*group);
  if (process == nullptr) {
    const auto parent = parent_of(*group);
    process = add_process(*group, parent.get());
    if (instrument_ != nullptr) {
      begin_child(*process, tid, parent.get());
    }
  }
  Tracee& tracee = add_thread(tid, *group, process);
  tracee.is_new = true;
  return &tracee;
}

std::shared_ptr<TracedProcess> Lifecycle::parent_of(pid_t pid) const {
  if (const auto found = creators_.find(pid); found != creators_.end()) {
    return found->second;
  }
  const auto stat = read_stat(pid);
  return tracees_.find_process(stat ? stat->parent : 0);
}

/// A task that reports before its creator's event does: what it has of that very thread.
void Lifecycle::complete(ForkOrigin& origin, pid_t task, const TracedProcess& parent) {
  constexpr int kLooks = 100;
  constexpr std::chrono::microseconds kBetweenLooks{50};
  std::vector<std::pair<pid_t, ForkOrigin>> threads;
  for (const Tracee* const tracee : tracees_.in(*parent.code_state)) {
    if (tracee->process.get() == &parent) {
      threads.emplace_back(tracee->id.tid, instrument_->origin_of(*tracee));
    }
  }
  const auto take = [&](const ForkOrigin& from) {
    origin.blocks_trap = from.blocks_trap;
    origin.clears_handlers = from.clears_handlers;
    origin.collected_in = from.collected_in;
  };
  const auto differs = [&](const auto& thread) {
    return thread.second.blocks_trap != threads.front().second.blocks_trap ||
           thread.second.clears_handlers != threads.front().second.clears_handlers ||
           thread.second.collected_in.has_value();
  };
  if (threads.size() == 1 ||
      (!threads.empty() && std::none_of(threads.begin(), threads.end(), differs))) {
    take(threads.front().second);
    return;
  }
  // The creator comes to its stop in a moment, unless it is killed.
  for (int look = 0; look < kLooks && !threads.empty(); ++look) {
    for (const auto& [tid, from] : threads) {
      const auto made = ptrace::event_message(tid);
      if (made && static_cast<pid_t>(*made) == task) {
        take(from);
        return;
      }
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

/// A program that gets code of an instrument needs a descriptor as long as it lives.
bool Lifecycle::has_no_files() {
  const bool none = instrument_ != nullptr && are_open_files_scarce();
  unfollowed_ += none ? 1 : 0;
  return none;
}

void Lifecycle::note_begun(const TracedProcess& process) {
  const InstrumentedCode* const code = instrumented_code(process);
  if (process.followed && code != nullptr && !code->memory().is_open()) {
    ++unfollowed_;
  }
}

void Lifecycle::begin_child(TracedProcess& process, pid_t tid, const TracedProcess* parent) {
  ForkOrigin origin = origins_.find(tid, parent);
  if (origin.code != nullptr && parent != nullptr && origin.code == parent->code_state &&
      origins_.announced(tid) == nullptr) {
    complete(origin, tid, *parent);
    origins_.announce(tid, origin);
  }
  process.followed = options_.follow_forks && !(origin.code != nullptr && has_no_files());
  if (origin.code == nullptr && parent != nullptr && parent->was_given_up) {
    process.was_given_up = true;
    if (!run_.releasing && process.followed && has_own_memory(process.id.pid, parent->id.pid)) {
      instrument_->begin_process(process, tid, false);
    }
  } else if (origin.code != nullptr) {
    if (run_.releasing || !process.followed) {
      // Breakpoints may have been removed from the parent since the fork: every one is looked at.
      origin.insertions = 0;
    }
    instrument_->begin_child(process, tid, origin);
    note_begun(process);
    process.followed = process.followed && instrumented_code(process)->memory().is_open();
    if (!process.followed && process.code_state != origin.code) {
      Instrument::clean_child(process, tid);
    } else if (run_.releasing) {
      instrument_->restore(process);
    }
  }
  // While it shares its parent's memory it has to be helped over the breakpoints.
  process.profiled = process.followed || process.code_state != nullptr;
}

void Lifecycle::announce_task(const Tracee& creator) {
  const auto task = ptrace::event_message(creator.id.tid);
  if (!task) {
    return;
  }
  const auto tid = static_cast<pid_t>(*task);
  const bool has_code = instrument_ != nullptr && creator.process->code_state != nullptr;
  if (Tracee* const known = tracees_.find(tid)) {
    if (has_code) {
      instrument_->inherit(*known, instrument_->origin_of(creator));
    }
  } else if (ptrace::will_report(
                 tid)) {  // the kernel reports the newest tasks first: some are gone
    creators_.insert_or_assign(tid, creator.process);
    if (has_code) {
      origins_.announce(tid, instrument_->origin_of(creator));
    }
  }
}

void Lifecycle::forget_announced(pid_t tid) {
  origins_.forget(tid);
  creators_.erase(tid);
}

bool Lifecycle::awaits_tasks() {
  origins_.forget_if([](pid_t tid) { return !ptrace::will_report(tid); });
  return origins_.awaits_any();
}

Tracee& Lifecycle::add_thread(pid_t tid, pid_t pid, std::shared_ptr<TracedProcess> process) {
  Tracee& tracee = tracees_.add(tid, std::move(process));
  if (options_.names_threads) {
    outbox_.deliver({tracee.process->id, tracee.id, core::Clock::now(),
                     core::ThreadStarted{read_name(pid, tid)}});
  }
  const bool counts =
      tracee.process->followed && (options_.all_threads || run_.roots.is_main(pid, tid));
  if (instrument_ != nullptr) {
    instrument_->add_thread(tracee, counts);
    if (const ForkOrigin* const origin = origins_.announced(tid)) {
      instrument_->inherit(tracee, *origin);
    }
    tracee.let_go = !tracee.process->profiled;
  }
  forget_announced(tid);
  if (!run_.releasing && tracee.process->profiled && counts) {
    tracee.slot = std::make_shared<SampleSlot>(tracee.process->id, tracee.id);
    tracee.slot->guard = tracee.process->guard;
    tracee.slot->cpu = tracee.process->cpu;
    slots_.add(tracee.slot);
  }
  return tracee;
}

void Lifecycle::remove_thread(Tracee& tracee) {
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

void Lifecycle::end_process(const std::shared_ptr<TracedProcess>& process, core::ThreadId thread) {
  flush_own(*process, thread);
  origins_.remember_ended(process, core::Clock::now());
  Guardian::release(std::exchange(process->guard, nullptr));
  if (tracees_.find_process(process->id.pid) == process) {
    tracees_.forget_process(process->id.pid);
  }
  outbox_.deliver({process->id, thread, core::Clock::now(), core::ProcessEnded{}});
}

void Lifecycle::flush_own(const TracedProcess& process, core::ThreadId thread) {
  if (owns_code(process)) {
    instrument_->flush(process, thread);
  }
}

void Lifecycle::flush_all() {
  for (const auto& [tid, tracee] : tracees_.all()) {
    if (tracee.process->code_state != nullptr) {
      instrument_->flush(*tracee.process, tracee.id);  // nothing the second time
    }
  }
}

void Lifecycle::begin_exit(Tracee& tracee) const {
  const TracedProcess& process = *tracee.process;
  if (process.code_state != nullptr) {
    instrument_->on_exit(tracee);
  }
  const bool has_samples = process.samples > 0 || process.threads > 1 || process.from_start;
  if (options_.names_threads && has_samples) {
    tracee.last_name = read_name(process.id.pid, tracee.id.tid);
  }
}

void Lifecycle::tell_names() {
  if (!options_.names_threads) {
    return;
  }
  for (const auto& [tid, tracee] : tracees_.all()) {
    outbox_.deliver({tracee.process->id, tracee.id, core::Clock::now(),
                     core::ThreadStarted{read_name(tracee.process->id.pid, tid)}});
  }
}

}  // namespace sp::supervisor
