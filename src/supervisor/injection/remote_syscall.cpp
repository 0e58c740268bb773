#include "supervisor/injection/remote_syscall.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "core/page.h"
#include "supervisor/injection/remote_stops.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;
using core::Address;

/// If the thread is confined by seccomp and we are not, the call could kill it.
bool is_free_to_call(pid_t tid) {
  const auto theirs = read_proc(fmt::format("/proc/{}/status", tid));
  static const auto ours = read_proc("/proc/self/status");
  return theirs && ours && status_field(*theirs, "Seccomp") == status_field(*ours, "Seccomp") &&
         status_field(*theirs, "Seccomp_filters") == status_field(*ours, "Seccomp_filters");
}

/// After prctl(2) with PR_SET_SYSCALL_USER_DISPATCH a call of ours would become a SIGSYS. Told from
/// Linux 6.4 on.
bool dispatches_calls(pid_t tid) {
  struct Config {
    std::uint64_t mode = 0;
    std::uint64_t selector = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  constexpr auto kGetConfig = static_cast<__ptrace_request>(0x4211);
  Config config;
  return ::ptrace(kGetConfig, tid, sizeof config, &config) == 0 &&  // NOLINT(*-vararg)
         config.mode != 0;
}

/// Code in a code cave, for one call. Restores the cave when it goes out of scope.
class CodeInCave {
 public:
  CodeInCave(TargetMemory memory, Address place, std::span<const std::byte> code)
      : memory_(std::move(memory)), place_(place), was_(code.size()) {
    written_ = memory_.read(place, was_) == was_.size() && memory_.write(place, code);
  }
  CodeInCave(const CodeInCave&) = delete;
  CodeInCave& operator=(const CodeInCave&) = delete;
  ~CodeInCave() {
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

/// The state of a thread that a call must not change.
struct SavedThread {
  ptrace::Registers registers;
  std::uint64_t mask = 0;
  std::vector<std::vector<std::byte>>
      sets;  // NativeTrapHandler::kVectorSets; empty if there is none

  static std::optional<SavedThread> of(pid_t tid) {
    const auto registers = ptrace::registers(tid);
    const auto mask = ptrace::signal_mask(tid);
    if (!registers || !mask) {
      return std::nullopt;
    }
    SavedThread state{*registers, *mask, {}};
    for (const int set : NativeTrapHandler::kVectorSets) {
      state.sets.push_back(ptrace::register_set(tid, set).value_or(std::vector<std::byte>{}));
    }
    return state;
  }

  [[nodiscard]] ptrace::Registers at_call(Address place, long number,
                                          const std::array<std::uint64_t, 6>& arguments) const {
    ptrace::Registers at = registers;
    arch::Native::set_pc(at, place);
    NativeTrapHandler::set_call(at, static_cast<std::uint64_t>(number), arguments);
    NativeTrapHandler::skip_red_zone(at);
    return at;
  }

  /// All but the signal mask.
  void restore(pid_t tid) const {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const int set = NativeTrapHandler::kVectorSets.at(i);
      if (NativeTrapHandler::is_lost_in_call(set, sets[i])) {
        (void)ptrace::write_register_set(tid, set, sets[i]);
      }
    }
    (void)ptrace::set_registers(tid, registers);  // last: until here the stub would restore them
  }
};

/// Makes the call in code that restores the thread by itself.
core::Result<std::int64_t> call_by_stub(pid_t tid, Address place, const SavedThread& before,
                                        std::span<const std::byte> stub, long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const CodeInCave code(TargetMemory(tid), place, stub);
  if (!code.is_written()) {
    return core::fail("calling in the target", ESRCH);
  }
  const ptrace::Registers at_call = before.at_call(place, number, arguments);
  DeferredStop deferred;
  // If we die at any point from here on, the stub restores what was changed so far.
  const bool done = ptrace::set_registers(tid, at_call) &&
                    ptrace::set_signal_mask(tid, ptrace::kAllSignals) &&
                    run_to_call(tid, StopReason::call_exit, deferred);
  const auto after = ptrace::registers(tid);
  (void)run_to_interrupt(tid, deferred);
  (void)ptrace::set_signal_mask(tid, before.mask);
  before.restore(tid);
  deferred.end(tid);
  if (!done || !after) {
    return core::fail("calling in the target", ESRCH);
  }
  return NativeTrapHandler::result(*after);
}

/// Makes the call by stepping over a system-call instruction.
core::Result<std::int64_t> call_by_step(pid_t tid, Address place, const SavedThread& before,
                                        long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const CodeInCave code(TargetMemory(tid), place, NativeTrapHandler::kSyscall);
  if (!code.is_written() ||
      !ptrace::set_signal_mask(tid, ptrace::kAllSignals & ~(1ULL << (SIGTRAP - 1)))) {
    return core::fail("calling in the target", ESRCH);
  }
  DeferredStop deferred;
  const bool done = step_over_call(tid, before.at_call(place, number, arguments), deferred);
  const auto after = ptrace::registers(tid);
  before.restore(tid);
  (void)ptrace::set_signal_mask(tid, before.mask);
  deferred.end(tid);
  if (!done || !after) {
    return core::fail("calling in the target", ESRCH);
  }
  return NativeTrapHandler::result(*after);
}

using MakeCall =
    std::function<core::Result<std::int64_t>(long, const std::array<std::uint64_t, 6>&)>;

/// The beginning of the kernel's struct sigaction.
struct HandlerAndFlags {
  std::uint64_t handler = 0;
  std::uint64_t flags = 0;
};

/// The sa_flags of a signal's handler; nothing if they cannot be read. The call writes its answer
/// to the thread's stack for a moment, below what the stack holds.
std::optional<std::uint64_t> flags_of_handler(pid_t tid, const SavedThread& before, int signal,
                                              const MakeCall& make_call) {
  constexpr std::uint64_t kActionSize = 32;
  const TargetMemory memory(tid);
  const Address at = arch::Native::sp(before.registers) - 2 * kActionSize;
  std::array<std::byte, kActionSize> was{};
  if (memory.read(at, was) != was.size()) {
    return std::nullopt;
  }
  const auto asked = make_call(SYS_rt_sigaction, {static_cast<std::uint64_t>(signal), 0, at.value(),
                                                  sizeof(std::uint64_t), 0, 0});
  HandlerAndFlags action;
  const bool is_read =
      asked && *asked == 0 &&
      memory.read(at, std::as_writable_bytes(std::span(&action, 1))) == sizeof action;
  (void)memory.write(at, was);
  return is_read ? std::optional(action.flags) : std::nullopt;
}

/// The thread is about to restart a system call, but a signal that the program handles is pending
/// or about to be delivered (`delivered`). If the call has to return EINTR because of that, makes
/// it return EINTR.
void end_interrupted_call(pid_t tid, const SavedThread& before, int delivered,
                          const MakeCall& make_call) {
  const auto how = NativeTrapHandler::after_handler(before.registers);
  const auto masks = read_signal_masks(tid);
  if (how == arch::AfterHandler::unknown || !masks || !stands_before_call(tid, before.registers)) {
    return;
  }
  const std::uint64_t waiting =
      delivered != 0 ? signal_bit(delivered)
                     : (masks->thread_pending | masks->process_pending) & ~before.mask;
  const std::uint64_t handled = waiting & masks->caught & ~signal_bit(SIGTRAP);
  if (handled == 0) {
    return;
  }
  if (how == arch::AfterHandler::by_the_handler) {
    const auto flags = flags_of_handler(tid, before, std::countr_zero(handled) + 1, make_call);
    if (!flags || (*flags & SA_RESTART) != 0) {
      return;
    }
  }
  auto registers = before.registers;
  arch::Native::set_pc(registers, arch::Native::pc(registers) + NativeTrapHandler::kSyscall.size());
  NativeTrapHandler::finish_call(registers, -EINTR);
  (void)ptrace::set_registers(tid, registers);
}

}  // namespace

core::Result<std::int64_t> remote_syscall(pid_t tid, Address place, long number,
                                          const std::array<std::uint64_t, 6>& arguments,
                                          bool trap_is_served) {
  if (place == Address{} || !is_free_to_call(tid) || dispatches_calls(tid)) {
    return core::fail("calling in the target", EPERM);
  }
  DeferredStop deferred;
  const bool is_resolved = signal_to_be_delivered(tid) != 0 || resolve_restart(tid, deferred);
  const auto before = is_resolved ? SavedThread::of(tid) : std::nullopt;
  if (!before) {
    deferred.end(tid);
    return core::fail("calling in the target", ESRCH);
  }
  const std::uint64_t space = core::kPageSize - place.value() % core::kPageSize;
  if (arch::Native::pc(before->registers) - place < space) {
    deferred.end(tid);
    return core::fail("calling in the target",
                      EAGAIN);  // it still leaves the stub of an earlier call
  }
  const auto stub =
      NativeTrapHandler::trampoline(before->registers, before->mask, before->sets, space);
  const int reported = signal_to_be_delivered(tid);
  const int delivered = trap_is_served && reported == SIGTRAP ? 0 : reported;
  const auto info = ptrace::signal_info(tid);
  const MakeCall make_call = [&](long call, const std::array<std::uint64_t, 6>& with) {
    return delivered == 0 && !stub.empty() ? call_by_stub(tid, place, *before, stub, call, with)
                                           : call_by_step(tid, place, *before, call, with);
  };
  auto result = make_call(number, arguments);
  end_interrupted_call(tid, *before, delivered, make_call);
  if (delivered != 0 && info) {
    // It stands in the stop of a step now: without this the signal would come from nobody.
    (void)ptrace::set_signal_info(tid, *info);
  }
  deferred.end(tid);
  return result;
}

}  // namespace sp::supervisor
