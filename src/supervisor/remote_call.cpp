#include "supervisor/remote_call.h"

#include <fmt/format.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "arch/native.h"
#include "core/mapping.h"
#include "supervisor/proc_files.h"
#include "supervisor/ptrace.h"
#include "supervisor/target_memory.h"
#include "supervisor/wait_status.h"

namespace sp::supervisor {
namespace {

using arch::NativeRescue;
using core::Address;

/// Where it is confined by seccomp and we are not, the call could be the end of it.
bool is_free_to_call(pid_t tid) {
  const auto theirs = read_proc(fmt::format("/proc/{}/status", tid));
  static const auto ours = read_proc("/proc/self/status");
  return theirs && ours && status_field(*theirs, "Seccomp") == status_field(*ours, "Seccomp") &&
         status_field(*theirs, "Seccomp_filters") == status_field(*ours, "Seccomp_filters");
}

enum class Came { step, call_entry, call_exit, interrupt, something_else, end };

/// SIGSTOP, the one signal that cannot be blocked and does not kill, came while a call was made.
struct StopCame {
  bool ours = false;
  bool of_others = false;

  /// It is to come once more. By what it says of its sender it is known for ours or not.
  void send_again(pid_t tid) const {
    if (ours) {
      ::syscall(SYS_tkill, tid, SIGSTOP);
    }
    if (of_others) {
      ::kill(tid, SIGSTOP);
    }
  }
};

bool is_ours(const siginfo_t& info) {
  return info.si_signo == SIGSTOP && info.si_code == SI_TKILL &&
         (info.si_pid == ::getpid() || info.si_pid == 0);
}

/// Waits for the thread's next stop.
Came wait_for_stop(pid_t tid, StopCame& stop_came) {
  const auto report = ptrace::wait_for(tid);
  const WaitStatus status = report ? parse_wait_status(report->status) : WaitStatus{NotAStop{}};
  if (std::holds_alternative<Exited>(status) || std::holds_alternative<Killed>(status) ||
      std::holds_alternative<NotAStop>(status)) {
    return Came::end;
  }
  if (const auto call = ptrace::syscall_stop(tid)) {
    if (call->side == ptrace::SyscallStop::Side::entry) {
      return Came::call_entry;
    }
    if (call->side == ptrace::SyscallStop::Side::exit) {
      return Came::call_exit;
    }
  }
  if (std::holds_alternative<InterruptStop>(status) || std::holds_alternative<GroupStop>(status)) {
    stop_came.of_others = stop_came.of_others || std::holds_alternative<GroupStop>(status);
    return Came::interrupt;
  }
  const auto* const delivery = std::get_if<SignalDelivery>(&status);
  if (delivery != nullptr && delivery->signal == SIGSTOP) {
    const auto info = ptrace::signal_info(tid);
    (info && is_ours(*info) ? stop_came.ours : stop_came.of_others) = true;
  }
  return delivery != nullptr && delivery->signal == SIGTRAP ? Came::step : Came::something_else;
}

constexpr int kTries = 100;

/// Runs until it is through the call. False where the thread is gone.
bool run_through_call(pid_t tid, StopCame& stop_came) {
  for (int i = 0; i < kTries; ++i) {
    if (!ptrace::resume_to_syscall(tid, 0)) {
      return false;
    }
    const Came came = wait_for_stop(tid, stop_came);
    if (came == Came::call_exit || came == Came::end) {
      return came == Came::call_exit;
    }
  }
  return false;
}

/// From a call's exit on to a stop in which the kernel will look again whether an interrupted call
/// is to be made once more. No instruction is executed. False where the thread is gone.
bool run_to_interrupt(pid_t tid, StopCame& stop_came) {
  for (int i = 0; i < kTries; ++i) {
    // Each time anew: any other stop takes its place.
    if (!ptrace::interrupt(tid) || !ptrace::resume(tid, 0)) {
      return false;
    }
    const Came came = wait_for_stop(tid, stop_came);
    if (came == Came::interrupt || came == Came::end) {
      return came == Came::interrupt;
    }
  }
  return false;
}

/// It stands in a stop that comes to its end without a signal, so that another stop can take its
/// place: a PTRACE_INTERRUPT's, or a SIGSTOP's of ours.
bool is_without_signal(pid_t tid) {
  const auto info = ptrace::signal_info(tid);
  return info && ((info->si_code >> 8) == PTRACE_EVENT_STOP || is_ours(*info));
}

/// Runs until the step over the call's instruction is over. False where the thread is gone.
bool step_over_call(pid_t tid, const ptrace::Registers& at_call, StopCame& stop_came) {
  for (int i = 0; i < kTries; ++i) {
    if (!ptrace::set_registers(tid, at_call) || !ptrace::step(tid, 0)) {
      return false;
    }
    const Came came = wait_for_stop(tid, stop_came);
    if (came == Came::step || came == Came::end) {
      return came == Came::step;
    }
  }
  return false;
}

constexpr std::uint64_t kAllSignals = ~std::uint64_t{0};

/// In code that finds its way back alone.
template <typename Native>
core::Result<std::int64_t> call_by_stub(pid_t tid, Address place, long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const auto before = ptrace::registers(tid);
  const auto mask = ptrace::signal_mask(tid);
  const TargetMemory memory(tid);
  const typename Native::Stub stub =
      before && mask ? Native::stub(*before, *mask) : typename Native::Stub{};
  if (!before || !mask || !memory.write(place, stub)) {
    return core::fail("calling in the target", ESRCH);
  }
  ptrace::Registers at_call = *before;
  arch::Native::set_pc(at_call, place);
  Native::set_call(at_call, static_cast<std::uint64_t>(number), arguments);
  Native::set_stub_stack(at_call, place);
  StopCame stop_came;
  // At any point the stub would put back what is not as it was by then.
  const bool done = ptrace::set_registers(tid, at_call) &&
                    ptrace::set_signal_mask(tid, kAllSignals) && run_through_call(tid, stop_came);
  const auto after = ptrace::registers(tid);
  (void)run_to_interrupt(tid, stop_came);
  (void)ptrace::set_signal_mask(tid, *mask);
  (void)ptrace::set_registers(tid, *before);
  (void)memory.write(place, typename Native::Stub{});
  stop_came.send_again(tid);
  if (!done || !after) {
    return core::fail("calling in the target", ESRCH);
  }
  return Native::result(*after);
}

template <typename Native>
core::Result<std::int64_t> call_by_step(pid_t tid, Address place, long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const auto before = ptrace::registers(tid);
  const auto mask = ptrace::signal_mask(tid);
  if constexpr (Native::kCallsByStub) {
    if (!before || !TargetMemory(tid).write(place, Native::kSyscall)) {
      return core::fail("calling in the target", ESRCH);
    }
  }
  if (!before || !mask || !ptrace::set_signal_mask(tid, kAllSignals & ~(1ULL << (SIGTRAP - 1)))) {
    return core::fail("calling in the target", ESRCH);
  }
  ptrace::Registers at_call = *before;
  arch::Native::set_pc(at_call, place);
  Native::set_call(at_call, static_cast<std::uint64_t>(number), arguments);
  StopCame stop_came;
  const bool done = step_over_call(tid, at_call, stop_came);
  const auto after = ptrace::registers(tid);
  (void)ptrace::set_registers(tid, *before);
  (void)ptrace::set_signal_mask(tid, *mask);
  if constexpr (Native::kCallsByStub) {
    (void)TargetMemory(tid).write(place, std::array<std::byte, Native::kSyscall.size()>{});
  }
  stop_came.send_again(tid);
  if (!done || !after) {
    return core::fail("calling in the target", ESRCH);
  }
  return Native::result(*after);
}

/// Behind a module's code, up to the end of its last page, where nothing is, or what a
/// superprofiler has left that was killed in a call.
template <typename Native>
bool has_room_at_end(const TargetMemory& memory, const core::Mapping& mapping) {
  if (!mapping.executable || mapping.shared || mapping.writable ||
      mapping.range.size() < Native::kStubSize) {
    return false;
  }
  typename Native::Stub there{std::byte{1}};
  return memory.read(mapping.range.end - Native::kStubSize, there) == there.size() &&
         (there == typename Native::Stub{} || Native::is_stub(there));
}

template <typename Native>
std::optional<Address> find_room(const TargetMemory& memory,
                                 const std::vector<core::Mapping>& maps) {
  std::optional<Address> found;
  for (const core::Mapping& mapping : maps) {
    const bool is_vdso = mapping.path == "[vdso]";
    if ((is_vdso || (!found && mapping.inode != 0)) && has_room_at_end<Native>(memory, mapping)) {
      found = mapping.range.end - Native::kStubSize;
    }
  }
  return found;
}

template <typename Native>
std::optional<Address> find_instruction(const TargetMemory& memory,
                                        const std::vector<core::Mapping>& maps) {
  const auto vdso = std::find_if(maps.begin(), maps.end(), [](const core::Mapping& mapping) {
    return mapping.path == "[vdso]";
  });
  if (vdso == maps.end()) {
    return std::nullopt;
  }
  std::vector<std::byte> bytes(vdso->range.size());
  bytes.resize(memory.read(vdso->range.begin, bytes));
  const auto found =
      std::search(bytes.begin(), bytes.end(), Native::kSyscall.begin(), Native::kSyscall.end());
  return found == bytes.end()
             ? std::nullopt
             : std::optional(vdso->range.begin + static_cast<std::uint64_t>(found - bytes.begin()));
}

template <typename Native>
std::optional<Address> find_place(const TargetMemory& memory,
                                  const std::vector<core::Mapping>& maps) {
  if constexpr (Native::kCallsByStub) {
    return find_room<Native>(memory, maps);
  } else {
    return find_instruction<Native>(memory, maps);
  }
}

/// Whether an interrupted call is made once more, and as restart_syscall, some kernels decide
/// behind the stop that interrupted it. Runs to where the registers say so. False where the thread
/// is gone.
template <typename Native>
bool settle_restart(pid_t tid, StopCame& stop_came) {
  static_assert(!Native::kCallsByStub);
  const auto mask = ptrace::signal_mask(tid);
  const bool settled =
      mask && ptrace::set_signal_mask(tid, kAllSignals) && run_to_interrupt(tid, stop_came);
  if (mask) {
    (void)ptrace::set_signal_mask(tid, *mask);
  }
  return settled;
}

template <typename Native>
core::Result<std::int64_t> call(pid_t tid, Address place, long number,
                                const std::array<std::uint64_t, 6>& arguments) {
  if constexpr (Native::kCallsByStub) {
    return is_without_signal(tid) ? call_by_stub<Native>(tid, place, number, arguments)
                                  : call_by_step<Native>(tid, place, number, arguments);
  } else {
    StopCame stop_came;
    if (is_without_signal(tid) && !settle_restart<Native>(tid, stop_came)) {
      return core::fail("calling in the target", ESRCH);
    }
    auto answer = call_by_step<Native>(tid, place, number, arguments);
    stop_came.send_again(tid);
    return answer;
  }
}

}  // namespace

std::optional<Address> find_place_for_calls(pid_t tid) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  if (!text) {
    return std::nullopt;
  }
  return find_place<NativeRescue>(TargetMemory(tid), core::parse_maps(*text));
}

core::Result<std::int64_t> remote_call(pid_t tid, Address place, long number,
                                       const std::array<std::uint64_t, 6>& arguments) {
  if (place == Address{} || !is_free_to_call(tid)) {
    return core::fail("calling in the target", EPERM);
  }
  return call<NativeRescue>(tid, place, number, arguments);
}

}  // namespace sp::supervisor
