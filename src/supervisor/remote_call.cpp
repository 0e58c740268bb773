#include "supervisor/remote_call.h"

#include <fmt/format.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arch/native.h"
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

/// Runs to a call's entry or its exit. False where the thread is gone.
bool run_to_call(pid_t tid, Came side, StopCame& stop_came) {
  for (int i = 0; i < kTries; ++i) {
    if (!ptrace::resume_to_syscall(tid, 0)) {
      return false;
    }
    const Came came = wait_for_stop(tid, stop_came);
    if (came == side || came == Came::end) {
      return came == side;
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
constexpr std::uint64_t kPageSize = 4096;

/// Code behind a module's own, for a call; then what was there again.
class CodeInRoom {
 public:
  CodeInRoom(TargetMemory memory, Address place, std::span<const std::byte> code)
      : memory_(std::move(memory)), place_(place), was_(code.size()) {
    written_ = memory_.read(place, was_) == was_.size() && memory_.write(place, code);
  }
  CodeInRoom(const CodeInRoom&) = delete;
  CodeInRoom& operator=(const CodeInRoom&) = delete;
  ~CodeInRoom() {
    if (written_) {
      (void)memory_.write(place_, was_);
    }
  }

  [[nodiscard]] bool is_written() const { return written_; }

 private:
  TargetMemory memory_;
  Address place_;
  std::vector<std::byte> was_;
  bool written_ = false;
};

/// A thread as it is to be after a call again.
struct Before {
  ptrace::Registers registers;
  std::uint64_t mask = 0;
  std::vector<std::vector<std::byte>> sets;  // NativeRescue::kVectorSets; empty where there is none

  static std::optional<Before> of(pid_t tid) {
    const auto registers = ptrace::registers(tid);
    const auto mask = ptrace::signal_mask(tid);
    if (!registers || !mask) {
      return std::nullopt;
    }
    Before before{*registers, *mask, {}};
    for (const int set : NativeRescue::kVectorSets) {
      before.sets.push_back(ptrace::register_set(tid, set).value_or(std::vector<std::byte>{}));
    }
    return before;
  }

  [[nodiscard]] ptrace::Registers at_call(Address place, long number,
                                          const std::array<std::uint64_t, 6>& arguments) const {
    ptrace::Registers at = registers;
    arch::Native::set_pc(at, place);
    NativeRescue::set_call(at, static_cast<std::uint64_t>(number), arguments);
    NativeRescue::leave_red_zone(at);
    return at;
  }

  /// The mask aside.
  void put_back(pid_t tid) const {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const int set = NativeRescue::kVectorSets.at(i);
      if (NativeRescue::is_lost_in_call(set, sets[i])) {
        (void)ptrace::write_register_set(tid, set, sets[i]);
      }
    }
    (void)ptrace::set_registers(tid, registers);  // last: up to here it would find back alone
  }
};

/// In code that finds its way back alone.
core::Result<std::int64_t> call_by_stub(pid_t tid, Address place, const Before& before,
                                        std::span<const std::byte> stub, long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const CodeInRoom code(TargetMemory(tid), place, stub);
  if (!code.is_written()) {
    return core::fail("calling in the target", ESRCH);
  }
  const ptrace::Registers at_call = before.at_call(place, number, arguments);
  StopCame stop_came;
  // At any point the stub would put back what is not as it was by then.
  const bool done = ptrace::set_registers(tid, at_call) &&
                    ptrace::set_signal_mask(tid, kAllSignals) &&
                    run_to_call(tid, Came::call_exit, stop_came);
  const auto after = ptrace::registers(tid);
  (void)run_to_interrupt(tid, stop_came);
  (void)ptrace::set_signal_mask(tid, before.mask);
  before.put_back(tid);
  stop_came.send_again(tid);
  if (!done || !after) {
    return core::fail("calling in the target", ESRCH);
  }
  return NativeRescue::result(*after);
}

core::Result<std::int64_t> call_by_step(pid_t tid, Address place, const Before& before, long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const CodeInRoom code(TargetMemory(tid), place, NativeRescue::kSyscall);
  if (!code.is_written() || !ptrace::set_signal_mask(tid, kAllSignals & ~(1ULL << (SIGTRAP - 1)))) {
    return core::fail("calling in the target", ESRCH);
  }
  StopCame stop_came;
  const bool done = step_over_call(tid, before.at_call(place, number, arguments), stop_came);
  const auto after = ptrace::registers(tid);
  before.put_back(tid);
  (void)ptrace::set_signal_mask(tid, before.mask);
  stop_came.send_again(tid);
  if (!done || !after) {
    return core::fail("calling in the target", ESRCH);
  }
  return NativeRescue::result(*after);
}

/// Whether an interrupted call is made once more as restart_syscall, which goes on with what is
/// left of a wait, some kernels decide behind the stop that interrupted it. Has the thread begin
/// that call, and interrupts it again: then its registers say so. Any other call it does not make
/// yet. False where the thread is gone.
bool settle_restart(pid_t tid, StopCame& stop_came) {
  const auto registers = ptrace::registers(tid);
  std::array<std::byte, NativeRescue::kSyscall.size()> next{};
  if (!registers || !NativeRescue::may_hide_restart(*registers) ||
      TargetMemory(tid).read(arch::Native::pc(*registers), next) != next.size() ||
      next != NativeRescue::kSyscall) {
    return registers.has_value();
  }
  const auto mask = ptrace::signal_mask(tid);
  if (!mask || !ptrace::set_signal_mask(tid, kAllSignals)) {
    return false;
  }
  bool settled = run_to_call(tid, Came::call_entry, stop_came);
  const auto call = ptrace::syscall_stop(tid);
  if (settled && call && call->number != NativeRescue::kRestartCall) {
    settled = ptrace::skip_syscall(tid, *registers, NativeRescue::result(*registers)) &&
              run_to_call(tid, Came::call_exit, stop_came);
  }
  settled = settled && run_to_interrupt(tid, stop_came);
  (void)ptrace::set_signal_mask(tid, *mask);
  return settled;
}

}  // namespace

core::Result<std::int64_t> remote_call(pid_t tid, Address place, long number,
                                       const std::array<std::uint64_t, 6>& arguments) {
  if (place == Address{} || !is_free_to_call(tid)) {
    return core::fail("calling in the target", EPERM);
  }
  StopCame stop_came;
  const bool is_settled = !is_without_signal(tid) || settle_restart(tid, stop_came);
  const auto before = is_settled ? Before::of(tid) : std::nullopt;
  if (!before) {
    return core::fail("calling in the target", ESRCH);
  }
  const std::uint64_t room = kPageSize - place.value() % kPageSize;
  if (arch::Native::pc(before->registers) - place < room) {
    stop_came.send_again(tid);
    return core::fail("calling in the target", EAGAIN);  // it is on its way out of a last one
  }
  const auto stub = NativeRescue::stub(before->registers, before->mask, before->sets, room);
  auto answer = is_without_signal(tid) && !stub.empty()
                    ? call_by_stub(tid, place, *before, stub, number, arguments)
                    : call_by_step(tid, place, *before, number, arguments);
  stop_came.send_again(tid);
  return answer;
}

}  // namespace sp::supervisor
