// What system calls mean to the counting of code: a part of ExactCounter.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "arch/native.h"
#include "supervisor/instruments/exact/exact_counter.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;
using core::Flow;

/// It shows the thread's signal mask, or hands it on. In other calls SIGTRAP stays unblocked in a
/// thread that blocks it: if we were killed then, its next breakpoint would kill the target.
bool depends_on_mask(std::string_view call) {
  constexpr std::array<std::string_view, 10> kCalls = {
      "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "execve",
      "execveat",       "ppoll",        "pselect6",      "epoll_pwait",     "epoll_pwait2"};
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

}  // namespace

void ExactCounter::on_syscall(Tracee& tracee, core::TimePoint now) {
  ++stops_;
  const auto stop = ptrace::syscall_stop(tracee.id.tid);
  const auto registers = ptrace::registers(tracee.id.tid);
  CountedThread& thread = tracee.counted;
  if (stop && stop->side == ptrace::SyscallStop::Side::entry) {
    thread.call = {stop->number, stop->arguments, tracee.process->counted->insertions()};
    before_maps_change(tracee, *thread.call);
    before_sigaction(tracee, *thread.call);
    thread.call->done_in_its_stead = change_mask_in_its_stead(tracee, *thread.call);
    if (!thread.call->done_in_its_stead &&
        depends_on_mask(Native::syscall_name(static_cast<int>(stop->number)))) {
      block_trap_again(tracee);
    }
  } else if (stop && registers && stop->side == ptrace::SyscallStop::Side::exit) {
    on_syscall_exit(tracee, Native::pc(*registers), stop->result, now);
  }
  go(tracee);
}

void ExactCounter::on_syscall_exit(Tracee& tracee, Address pc, std::int64_t result,
                                   core::TimePoint now) {
  CountedThread& thread = tracee.counted;
  const auto call = std::exchange(thread.call, std::nullopt);
  CountedCode& code = *tracee.process->counted;
  const std::string_view name =
      call ? Native::syscall_name(static_cast<int>(call->number)) : std::string_view{};
  if (depends_on_mask(name) && !call->done_in_its_stead) {
    unblock_trap(tracee);
  }
  if (name == "rt_sigreturn") {
    while (!thread.interrupted.empty()) {
      const CountedThread::Interrupted last = thread.interrupted.back();
      const auto instruction = code.decode(pc);
      // A call that is made again begins in front of where it was interrupted.
      const bool repeats =
          instruction && instruction->flow == Flow::syscall && instruction->next() == last.at;
      if (last.at != pc && !repeats) {
        thread.interrupted.pop_back();  // that one was left in another way
        continue;
      }
      thread.interrupted.pop_back();
      thread.stepped = last.stepped;
      thread.next = instruction;
      return;
    }
    enter(tracee, pc, now);  // its handler sent it elsewhere
    return;
  }
  if (call) {
    after_sigaction(tracee, *call);
    on_maps_changed(tracee, *call, result);
  }
  come_back(tracee, pc);
}

/// A system call of the thread's is over, and it is about to go on behind it.
void ExactCounter::come_back(Tracee& tracee, Address pc) {
  CountedThread& thread = tracee.counted;
  CountedCode& code = *tracee.process->counted;
  const bool has_to_be_stepped = code.come_back(pc);
  thread.stepped = thread.stepped || has_to_be_stepped;
  if (thread.stepped) {
    thread.next = code.decode(pc);
  }
}

void ExactCounter::before_maps_change(Tracee& tracee, const CountedThread::Call& call) {
  const std::string_view name = Native::syscall_name(static_cast<int>(call.number));
  if (name != "mprotect" && name != "pkey_mprotect" && name != "mremap") {
    return;
  }
  CountedCode& code = *tracee.process->counted;
  const core::AddressRange range{Address{call.arguments[0]},
                                 Address{call.arguments[0] + call.arguments[1]}};
  if (!code.has_code_in(range)) {
    return;
  }
  // The code is about to be changed or moved: as it was, without breakpoints.
  send_counts(*tracee.process, tracee.id);
  code.restore(range);
  code.forget(range);
}

void ExactCounter::on_maps_changed(Tracee& tracee, const CountedThread::Call& call,
                                   std::int64_t result) {
  constexpr std::uint64_t kExecutable = 4;  // PROT_EXEC
  const std::string_view name = Native::syscall_name(static_cast<int>(call.number));
  const bool failed = result < 0 && result > -4096;
  CountedCode& code = *tracee.process->counted;
  if (failed) {
    return;
  }
  if (name == "mmap" || name == "munmap") {
    const std::uint64_t at =
        name == "mmap" ? static_cast<std::uint64_t>(result) : call.arguments[0];
    const core::AddressRange range{Address{at}, Address{at + call.arguments[1]}};
    if (code.has_code_in(range)) {
      send_counts(*tracee.process, tracee.id);
      code.forget(range);
      code.maps_changed();
    } else if (name == "mmap" && (call.arguments[2] & kExecutable) != 0) {
      code.maps_changed();
    }
  } else if (name == "mprotect" || name == "pkey_mprotect" || name == "mremap" || name == "shmat" ||
             name == "shmdt" || name == "remap_file_pages") {
    code.maps_changed();
  }
}

}  // namespace sp::supervisor
