#include "supervisor/instruments/exact/syscall_effects.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/exact/sigaction_effects.h"
#include "supervisor/instruments/task_calls.h"
#include "supervisor/linux/descriptor.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeTrapHandler;
using core::Address;
using core::Flow;

std::string_view name_of(const SyscallRequest& request) {
  return Native::syscall_name(static_cast<int>(request.number));
}

/// The call waits with a mask of its own.
bool has_own_mask(std::string_view call) {
  constexpr std::array<std::string_view, 5> kCalls = {"rt_sigsuspend", "ppoll", "pselect6",
                                                      "epoll_pwait", "epoll_pwait2"};
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

/// The call shows the thread's signal mask, or hands it on. In other calls SIGTRAP stays unblocked
/// in a thread that blocks it: if we were killed then, its next breakpoint would kill the target.
bool depends_on_mask(std::string_view call) {
  constexpr std::array<std::string_view, 5> kCalls = {"rt_sigprocmask", "rt_sigreturn",
                                                      "rt_sigtimedwait", "execve", "execveat"};
  return has_own_mask(call) || std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

/// A signal has ended the call, whose own mask stands until that one is delivered: whatever mask is
/// set before takes the place of both.
bool still_has_own_mask(std::string_view call, std::int64_t result) {
  constexpr std::int64_t kFirstRestart = 512;  // ERESTARTSYS and its like
  constexpr std::int64_t kLastRestart = 516;
  return (result == -EINTR || (-kLastRestart <= result && result <= -kFirstRestart)) &&
         has_own_mask(call);
}

core::AddressRange range_of(std::uint64_t begin, std::uint64_t size) {
  return {Address{begin}, Address{begin + size}};
}

}  // namespace

void SyscallEffects::insert_gates(const Tracee& tracee) {
  CountedCode& code = counted_code(*tracee.process);
  const auto scan = code.may_insert() && !code.has_gates()
                        ? ModuleScan::read(tracee.process->id, tracee.id.tid)
                        : std::nullopt;
  if (!scan) {
    return;
  }
  flow_.read_maps(*tracee.process, tracee.id);
  const auto [places, are_all] = gates_.find_mask_changes(*scan);
  for (const Address behind : places) {
    code.insert_gate(behind);
  }
  code.set_has_gates(are_all);
  if (are_all) {
    code.signal_handlers().begin();
  }
}

void SyscallEffects::on_stop(Tracee& tracee, core::TimePoint now) {
  const auto stop = ptrace::syscall_stop(tracee.id.tid);
  const auto registers = ptrace::registers(tracee.id.tid);
  if (stop && stop->side == ptrace::SyscallStop::Side::entry) {
    on_entry(tracee, {stop->number, stop->arguments});
  } else if (stop && registers && stop->side == ptrace::SyscallStop::Side::exit) {
    on_exit(tracee, Native::pc(*registers), stop->result, now);
  }
}

void SyscallEffects::on_entry(Tracee& tracee, const SyscallRequest& request) {
  CountedThread& thread = counted_thread(tracee);
  CountedThread::Syscall syscall;
  syscall.request = request;
  syscall.insertions = counted_code(*tracee.process).insertions();
  syscall.written = before_memory_access(tracee, request);
  before_maps_change(tracee, request);
  before_task(tracee, syscall);
  before_sigaction(tracee, syscall);
  syscall.emulated = syscall.emulated || emulate_mask_change(tracee, request);
  if (!syscall.emulated && depends_on_mask(name_of(request))) {
    thread.mask.block_again(tracee.id.tid);
  }
  thread.syscall = syscall;
}

void SyscallEffects::on_exit(Tracee& tracee, Address pc, std::int64_t result, core::TimePoint now) {
  CountedThread& thread = counted_thread(tracee);
  const auto syscall = std::exchange(thread.syscall, std::nullopt);
  const std::string_view name = syscall ? name_of(syscall->request) : std::string_view{};
  if (syscall) {
    after_mask_and_action(tracee, *syscall, result);
  }
  if (name == "rt_sigreturn") {
    on_sigreturn(tracee, pc, now);
    return;
  }
  if (syscall) {
    after_maps_change(tracee, syscall->request, result);
    if (syscall->written) {
      forget_written(tracee, *syscall->written);  // what was read of it meanwhile may be older
    }
  }
  const CountedCode& code = counted_code(*tracee.process);
  if (thread.times_written != code.times_written() && !code.is_returned_to(pc)) {
    flow_.enter(tracee, pc, now);  // the block that the call was to end is forgotten
  }
  FlowRecorder::return_from_syscall(tracee, pc);
}

void SyscallEffects::on_stop_to_detach(Tracee& tracee) {
  CountedThread& thread = counted_thread(tracee);
  const auto stop = ptrace::syscall_stop(tracee.id.tid);
  if (stop && stop->side == ptrace::SyscallStop::Side::entry) {
    CountedThread::Syscall syscall;
    syscall.request = {stop->number, stop->arguments};
    before_sigaction(tracee, syscall);
    if (depends_on_mask(name_of(syscall.request))) {
      thread.mask.block_again(tracee.id.tid);
    }
    thread.syscall = syscall;
  } else if (stop && stop->side == ptrace::SyscallStop::Side::exit) {
    if (const auto syscall = std::exchange(thread.syscall, std::nullopt)) {
      after_mask_and_action(tracee, *syscall, stop->result);
    }
  }
}

void SyscallEffects::after_mask_and_action(Tracee& tracee, const CountedThread::Syscall& syscall,
                                           std::int64_t result) {
  SigtrapMask& mask = counted_thread(tracee).mask;
  const std::string_view name = name_of(syscall.request);
  if (still_has_own_mask(name, result)) {
    mask.show(tracee.id.tid);
  } else if (depends_on_mask(name) && !syscall.emulated) {
    (void)mask.unblock(tracee.id.tid);
  }
  after_sigaction(tracee, syscall, result);
}

void SyscallEffects::on_sigreturn(Tracee& tracee, Address pc, core::TimePoint now) {
  CountedThread& thread = counted_thread(tracee);
  CountedCode& code = counted_code(*tracee.process);
  while (!thread.interrupted.empty()) {
    const CountedThread::Interrupted last = thread.interrupted.back();
    thread.interrupted.pop_back();
    const auto instruction = code.decode(pc);
    // A restarted call begins in front of where it was interrupted.
    const bool restarts =
        instruction && instruction->flow == Flow::syscall && instruction->next() == last.at;
    if (last.at != pc && !restarts) {
      continue;  // that handler was left in another way
    }
    thread.stepped = last.stepped;
    thread.next = instruction;
    return;
  }
  flow_.enter(tracee, pc, now);  // its handler sent it elsewhere
}

/// At the call's entry, where there was no gate. From the next time on there is one.
bool SyscallEffects::emulate_mask_change(Tracee& tracee, const SyscallRequest& request) {
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers || !counted_thread(tracee).mask.change(tracee.id.tid, request)) {
    return false;
  }
  counted_code(*tracee.process).insert_gate(Native::pc(*registers));
  (void)ptrace::skip_syscall(tracee.id.tid, *registers, 0);
  return true;
}

bool SyscallEffects::emulate_at_gate(Tracee& tracee, const BreakpointSite& gate,
                                     ptrace::Registers& registers) {
  const auto [number, arguments] = NativeTrapHandler::next_call(registers);
  const SyscallRequest call{number, arguments};
  const auto result = counted_thread(tracee).mask.change(tracee.id.tid, call)
                          ? std::optional<std::int64_t>(0)
                          : sigaction_at_gate(tracee, call, registers);
  if (!result) {
    return false;
  }
  NativeTrapHandler::finish_call(registers, *result);
  Native::set_pc(registers, gate.instruction.next());
  FlowRecorder::return_from_syscall(tracee, gate.instruction.next());
  return true;
}

/// The program reads or writes its own code through /proc/PID/mem. Returns what it writes.
std::optional<core::AddressRange> SyscallEffects::before_memory_access(
    const Tracee& tracee, const SyscallRequest& request) {
  constexpr std::array<std::string_view, 8> kCalls = {"read",  "write",  "pread64", "pwrite64",
                                                      "readv", "writev", "preadv",  "pwritev"};
  const int file = static_cast<int>(request.arguments[0]);
  if (std::find(kCalls.begin(), kCalls.end(), name_of(request)) == kCalls.end() ||
      !is_memory_file(tracee.id.tid, file)) {
    return std::nullopt;
  }
  const auto offset = name_of(request).starts_with('p') ? std::optional(request.arguments[3])
                                                        : file_position(tracee.id.tid, file);
  const bool is_vector = name_of(request).ends_with('v');
  const auto range = offset && !is_vector
                         ? range_of(*offset, request.arguments[2])
                         : core::AddressRange{Address{0}, Address{~std::uint64_t{0}}};
  forget_written(tracee, range);
  return name_of(request).find("write") != std::string_view::npos ? std::optional(range)
                                                                  : std::nullopt;
}

void SyscallEffects::forget_written(const Tracee& tracee, core::AddressRange range) {
  CountedCode& code = counted_code(*tracee.process);
  if (!code.has_code_in(range)) {
    return;
  }
  flow_.flush(*tracee.process, tracee.id);
  if (!code.forget_written(range)) {
    return;
  }
  const auto threads = list_threads(tracee.process->id.pid);
  for (const pid_t tid : threads ? *threads : std::vector<pid_t>{}) {
    if (tid != tracee.id.tid) {
      (void)ptrace::interrupt(tid);  // it may run in that code
    }
  }
}

void SyscallEffects::before_maps_change(const Tracee& tracee, const SyscallRequest& request) {
  const std::string_view name = name_of(request);
  if (name != "mprotect" && name != "pkey_mprotect" && name != "mremap") {
    return;
  }
  // The code is about to be changed or moved: without our breakpoints.
  forget_written(tracee, range_of(request.arguments[0], request.arguments[1]));
}

void SyscallEffects::after_maps_change(const Tracee& tracee, const SyscallRequest& request,
                                       std::int64_t result) {
  constexpr std::uint64_t kExecutable = 4;  // PROT_EXEC
  const std::string_view name = name_of(request);
  CountedCode& code = counted_code(*tracee.process);
  if (result < 0 && result > -4096) {
    return;  // it failed
  }
  if (name == "mmap" || name == "munmap") {
    const std::uint64_t at =
        name == "mmap" ? static_cast<std::uint64_t>(result) : request.arguments[0];
    const core::AddressRange range = range_of(at, request.arguments[1]);
    if (code.has_code_in(range)) {
      flow_.flush(*tracee.process, tracee.id);
      code.forget(range);
      code.expire_maps();
    }
    if (name == "mmap" && (request.arguments[2] & kExecutable) != 0) {
      code.expire_maps();
      insert_gates(tracee);
    }
  } else if (name == "mprotect" || name == "pkey_mprotect" || name == "mremap" || name == "shmat" ||
             name == "shmdt" || name == "remap_file_pages") {
    code.expire_maps();
  }
}

void SyscallEffects::before_task(const Tracee& tracee, CountedThread::Syscall& syscall) {
  const pid_t tid = tracee.id.tid;
  const auto task = make_child_traced(tid, syscall.request);
  if (!task) {
    return;
  }
  syscall.clears_handlers = task->clears_handlers;
  auto registers = task->first_argument != syscall.request.arguments[0] ? ptrace::registers(tid)
                                                                        : core::fail("");
  if (registers) {
    NativeTrapHandler::set_first_argument(*registers, task->first_argument);
    (void)ptrace::set_registers(tid, *registers);
  }
}

}  // namespace sp::supervisor
