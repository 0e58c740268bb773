#include "supervisor/injection/remote_syscall.h"

#include <fmt/format.h>
#include <signal.h>
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
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/injection/remote_stops.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;
using core::Address;

/// Where it is confined by seccomp and we are not, the call could be the end of it.
bool is_free_to_call(pid_t tid) {
  const auto theirs = read_proc(fmt::format("/proc/{}/status", tid));
  static const auto ours = read_proc("/proc/self/status");
  return theirs && ours && status_field(*theirs, "Seccomp") == status_field(*ours, "Seccomp") &&
         status_field(*theirs, "Seccomp_filters") == status_field(*ours, "Seccomp_filters");
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
  std::vector<std::vector<std::byte>> sets;  // NativeTrapHandler::kVectorSets; empty where there is none

  static std::optional<Before> of(pid_t tid) {
    const auto registers = ptrace::registers(tid);
    const auto mask = ptrace::signal_mask(tid);
    if (!registers || !mask) {
      return std::nullopt;
    }
    Before before{*registers, *mask, {}};
    for (const int set : NativeTrapHandler::kVectorSets) {
      before.sets.push_back(ptrace::register_set(tid, set).value_or(std::vector<std::byte>{}));
    }
    return before;
  }

  [[nodiscard]] ptrace::Registers at_call(Address place, long number,
                                          const std::array<std::uint64_t, 6>& arguments) const {
    ptrace::Registers at = registers;
    arch::Native::set_pc(at, place);
    NativeTrapHandler::set_call(at, static_cast<std::uint64_t>(number), arguments);
    NativeTrapHandler::skip_red_zone(at);
    return at;
  }

  /// The mask aside.
  void put_back(pid_t tid) const {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const int set = NativeTrapHandler::kVectorSets.at(i);
      if (NativeTrapHandler::is_lost_in_call(set, sets[i])) {
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
  return NativeTrapHandler::result(*after);
}

core::Result<std::int64_t> call_by_step(pid_t tid, Address place, const Before& before, long number,
                                        const std::array<std::uint64_t, 6>& arguments) {
  const CodeInRoom code(TargetMemory(tid), place, NativeTrapHandler::kSyscall);
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
  return NativeTrapHandler::result(*after);
}

using MakeCall =
    std::function<core::Result<std::int64_t>(long, const std::array<std::uint64_t, 6>&)>;

/// The kernel's struct sigaction begins with it.
struct HandlerAndFlags {
  std::uint64_t handler = 0;
  std::uint64_t flags = 0;
};

/// Nothing where it cannot be asked for. What the call answers is for a moment on the thread's
/// stack, beneath what that holds.
std::optional<std::uint64_t> flags_of_handler(pid_t tid, const Before& before, int signal,
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

/// Where a signal came, or is about to be delivered (`delivered`), that the program handles, and
/// the call in front of which the thread stands is to return EINTR for that: has it do so.
void end_interrupted_call(pid_t tid, const Before& before, int delivered,
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

core::Result<std::int64_t> remote_call(pid_t tid, Address place, long number,
                                       const std::array<std::uint64_t, 6>& arguments) {
  if (place == Address{} || !is_free_to_call(tid)) {
    return core::fail("calling in the target", EPERM);
  }
  StopCame stop_came;
  const bool is_settled = signal_to_be_delivered(tid) != 0 || settle_restart(tid, stop_came);
  const auto before = is_settled ? Before::of(tid) : std::nullopt;
  if (!before) {
    return core::fail("calling in the target", ESRCH);
  }
  const std::uint64_t room = kPageSize - place.value() % kPageSize;
  if (arch::Native::pc(before->registers) - place < room) {
    stop_came.send_again(tid);
    return core::fail("calling in the target", EAGAIN);  // it is on its way out of a last one
  }
  const auto stub = NativeTrapHandler::trampoline(before->registers, before->mask, before->sets, room);
  const int delivered = signal_to_be_delivered(tid);
  const MakeCall make_call = [&](long call, const std::array<std::uint64_t, 6>& with) {
    return delivered == 0 && !stub.empty() ? call_by_stub(tid, place, *before, stub, call, with)
                                           : call_by_step(tid, place, *before, call, with);
  };
  auto answer = make_call(number, arguments);
  end_interrupted_call(tid, *before, delivered, make_call);
  stop_came.send_again(tid);
  return answer;
}

}  // namespace sp::supervisor
