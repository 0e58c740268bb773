#include <fmt/format.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "supervisor/linux/proc_files.h"
#include "supervisor/startup/refusal.h"
#include "supervisor/supervisor.h"
#include "supervisor/syscall_repair.h"

// The beginning of a run: the target is launched or attached to.
namespace sp::supervisor {

tl::expected<void, StartFailure> Supervisor::prepare() {
  // A child that is not followed has to be cleaned of its parent's breakpoints all the same.
  const ptrace::FollowOptions follow{options_.follow_forks || instrument_ != nullptr};
  ptrace::bind_to_this_thread();
  wakeup_.target_this_thread();
  if (!options_.command.empty()) {
    auto child = LaunchedChild::fork({options_.command, options_.no_aslr});
    if (!child) {
      return tl::unexpected(StartFailure{child.error().message(), 125});
    }
    (options_.pids.empty() ? child_ : load_) = std::move(*child);
  }
  run_.launched = child_.has_value();
  if (child_) {
    run_.root = child_->pid();
    run_.roots.add(run_.root, run_.root);
    const auto seized = ptrace::seize(run_.root, follow);
    if (!seized) {
      return tl::unexpected(
          StartFailure{fmt::format("cannot trace the program: {}; `superprofiler doctor` says why",
                                   seized.error().message()),
                       125});
    }
    return {};
  }
  return prepare_attach(follow);
}

tl::expected<void, StartFailure> Supervisor::prepare_attach(ptrace::FollowOptions follow) {
  for (const pid_t named : options_.pids) {
    const auto leader = options_.all_threads ? std::nullopt : read_thread_group(named);
    const pid_t pid = leader.value_or(named);
    if (runs_32_bit_code(pid)) {
      return tl::unexpected(StartFailure{explain_attach_refusal(pid, ENOTSUP), 125});
    }
    if (!run_.roots.has_process(pid)) {
      auto threads = attach_to_all_threads(pid, follow);
      if (!threads) {
        return tl::unexpected(StartFailure{explain_attach_refusal(pid, threads.error().code), 125});
      }
      attached_.push_back({pid, std::move(*threads)});
    }
    run_.roots.add(pid, named);
  }
  run_.root = attached_.front().pid;
  return {};
}

void Supervisor::begin() {
  if (child_) {
    child_->go();  // its threads are met at the exec
    return;
  }
  for (const AttachedProcess& attached : attached_) {
    begin_attached(attached);
  }
  if (load_) {
    load_->go();
  }
}

void Supervisor::begin_attached(const AttachedProcess& attached) {
  const auto process = lifecycle_.add_process(attached.pid, nullptr);
  const pid_t first = attached.threads.front();
  if (instrument_ != nullptr) {
    instrument_->begin_process(*process, first, false);
    lifecycle_.note_begun(*process);
  }
  for (const pid_t tid : attached.threads) {
    if (lifecycle_.tracees().find(tid) == nullptr) {
      Tracee& tracee = lifecycle_.add_thread(tid, attached.pid, process);
      tracee.was_attached_to = true;
      if (instrument_ != nullptr && instrument_->needs().stops(tid == first)) {
        (void)SyscallRepair::interrupt(tracee);  // it begins to be counted at its first stop
      }
    }
  }
  sampler_.send_maps(*process, {first, 0}, core::Clock::now());
}

}  // namespace sp::supervisor
