#include "supervisor/linux/syscall_restart.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeTrapHandler;

/// How often the thread gave up its CPU by itself: to sleep, or to stop.
std::optional<std::uint64_t> read_sleeps(pid_t tid) {
  const auto status = read_proc(fmt::format("/proc/{}/status", tid));
  const auto field = status ? status_field(*status, "voluntary_ctxt_switches") : std::nullopt;
  std::uint64_t count = 0;
  if (!field ||
      std::from_chars(field->data(), field->data() + field->size(), count).ec != std::errc{}) {
    return std::nullopt;
  }
  return count;
}

}  // namespace

void InterruptedCall::look(pid_t tid) {
  if constexpr (Native::kInterruptedCallIsGuessed) {
    const auto sleeps = read_sleeps(tid);
    const auto call = read_syscall(tid);
    if (known_ && !known_->sleeps) {
      known_.reset();
    }
    // If it does not sleep it may be in the stop for which we have looked before.
    if (sleeps && call && call->number >= 0) {
      known_ = Known{{ptrace::SyscallStop::Side::entry, static_cast<std::uint64_t>(call->number),
                      call->arguments, 0},
                     core::Address{call->sp},
                     core::Address{call->pc},
                     sleeps};
    }
  }
}

void InterruptedCall::note_call(pid_t tid) {
  if constexpr (Native::kInterruptedCallIsGuessed) {
    const auto stop = ptrace::syscall_stop(tid);
    const auto registers = ptrace::registers(tid);
    if (stop && registers && stop->side == ptrace::SyscallStop::Side::entry) {
      known_ = Known{*stop, Native::sp(*registers), Native::pc(*registers), std::nullopt};
    } else if (!stop || stop->result != -EINTR) {
      known_.reset();
    }
    first_argument_.reset();
  }
}

void InterruptedCall::note_stop(pid_t tid, bool may_return_eintr) {
  first_argument_.reset();
  const auto known = std::exchange(known_, std::nullopt);
  const auto registers = known && may_return_eintr ? ptrace::registers(tid) : core::fail("");
  if (registers && is_interrupted(tid, *known, *registers)) {
    first_argument_ = known->entry.arguments[0];
  }
}

bool InterruptedCall::is_interrupted(pid_t tid, const Known& known,
                                     const ptrace::Registers& registers) {
  const auto number = Native::leaving_syscall(registers);
  const auto now = NativeTrapHandler::next_call(registers);  // but for the first argument
  if (!number || static_cast<std::uint64_t>(*number) != known.entry.number ||
      !std::equal(now.arguments.begin() + 1, now.arguments.end(),
                  known.entry.arguments.begin() + 1) ||
      Native::sp(registers) != known.sp || Native::pc(registers) != known.behind) {
    return false;
  }
  // It may have made the same call for something else since it was seen.
  const auto sleeps = known.sleeps ? read_sleeps(tid) : std::nullopt;
  return !known.sleeps || (sleeps && *sleeps <= *known.sleeps + 1);
}

bool restart_interrupted_call(pid_t tid, ptrace::Registers& registers, int signal,
                              InterruptedCall& call) {
  const bool is_made_again = call.made_again_ == registers;
  call.made_again_.reset();
  const auto number = Native::leaving_syscall(registers);
  const bool is_ended = number && Native::returns_eintr(registers) &&
                        Native::is_restartable(*number) &&
                        (!Native::kInterruptedCallIsGuessed || call.first_argument_.has_value());
  const auto masks = is_ended || is_made_again ? read_signal_masks(tid) : std::nullopt;
  if (!masks) {
    return false;
  }
  const std::uint64_t delivered = signal != 0 ? signal_bit(signal) : 0;
  if (is_made_again) {
    call.made_again_ = registers;
    if (masks->have_effect(delivered)) {
      // The kernel would have the handler run in front of the call.
      constexpr std::size_t kCallSize = NativeTrapHandler::kSyscall.size();
      Native::set_pc(registers, Native::pc(registers) + kCallSize);
      NativeTrapHandler::finish_call(registers, -EINTR);
      call.made_again_.reset();
      (void)ptrace::set_registers(tid, registers);
    }
    return false;
  }
  // A SIGSTOP that is pending for this thread alone is our own next one.
  const std::uint64_t pending =
      (masks->thread_pending & ~signal_bit(SIGSTOP)) | masks->process_pending;
  const std::uint64_t waiting = (pending & ~masks->blocked) | delivered;
  if (masks->have_effect(waiting)) {
    return false;  // the call ends for a reason of its own
  }
  Native::restart_call(registers, call.first_argument_.value_or(0));
  if (Native::kInterruptedCallIsGuessed) {
    call.made_again_ = registers;
  }
  return ptrace::set_registers(tid, registers).has_value();
}

}  // namespace sp::supervisor
