#include "supervisor/breakpoints/trap_handler.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "arch/native.h"
#include "core/log.h"
#include "core/page.h"
#include "supervisor/breakpoints/left_breakpoints.h"
#include "supervisor/injection/code_cave.h"
#include "supervisor/injection/remote_stops.h"
#include "supervisor/injection/remote_syscall.h"
#include "supervisor/linux/address_room.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/shadow_stack.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;
using Rescue = NativeTrapHandler::Rescue;
using core::Address;

/// How much room for the target's journal is tried, bytes; zeros cost nothing.
constexpr std::array<std::uint64_t, 3> kJournalSizes = {16U << 20U, 1U << 20U, 16U << 10U};
constexpr std::uint64_t kMaskSize = 8;
/// Signals that the handler's own instructions can cause. Others wait until it returns, while the
/// guardian restores the code: their handlers may block SIGTRAP.
constexpr std::uint64_t kFaults = signal_bit(SIGTRAP) | signal_bit(SIGSEGV) | signal_bit(SIGBUS) |
                                  signal_bit(SIGILL) | signal_bit(SIGFPE) | signal_bit(SIGSYS);
/// Where neither the kernel nor a sanitizer puts anything, so that nothing of the target's is
/// moved.
constexpr std::uint64_t kHint = 0x7EA0'0000'0000;

/// `action`: where in the handler's page.
bool set_action(const TrapHandler& handler, pid_t tid, std::uint64_t action,
                bool trap_is_served = false) {
  const auto result =
      remote_syscall(tid, handler.syscall_site, SYS_rt_sigaction,
                     {SIGTRAP, handler.page.value() + action, 0, kMaskSize, 0, 0}, trap_is_served);
  return result && *result == 0;
}

/// What an earlier run of ours that was killed has left. It stays: a thread may still be in what a
/// call of that run left there.
bool may_replace(const BreakpointTable& code, std::uint64_t handler) {
  constexpr auto& kCode = Rescue::kCode;
  constexpr auto& kDisarmed = Rescue::kDisarmed;
  std::array<std::byte, kCode.size()> there{};
  if (handler % core::kPageSize != 0 ||
      code.memory().read(Address{handler}, there) != there.size()) {
    return false;
  }
  std::byte* const armed = there.data() + Rescue::kDisarmedAt;
  if (std::memcmp(armed, kDisarmed.data(), kDisarmed.size()) == 0) {
    std::memcpy(armed, kCode.data() + Rescue::kDisarmedAt, kDisarmed.size());
  }
  return std::memcmp(there.data(), kCode.data(), kCode.size()) == 0;
}

/// Maps a page for the handler's code, one for what calls answer, and the journal; all but the
/// second read-only for the target. 0 where that fails.
std::uint64_t map_pages(TrapHandler& handler, pid_t tid) {
  const auto call = [&](long number, const std::array<std::uint64_t, 6>& arguments) {
    return remote_syscall(tid, handler.syscall_site, number, arguments).value_or(-1);
  };
  const std::uint64_t room = room_for_us(tid);
  for (const std::uint64_t journal : kJournalSizes) {
    const std::uint64_t size = Rescue::kBreakpoints + journal;
    if (size > room && journal != kJournalSizes.back()) {
      continue;
    }
    const std::int64_t page =
        call(SYS_mmap, {kHint, size, PROT_READ | PROT_EXEC,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, ~0ULL, 0});
    if (page < 0) {
      continue;
    }
    const auto at = static_cast<std::uint64_t>(page);
    if (call(SYS_mprotect,
             {at + core::kPageSize, core::kPageSize, PROT_READ | PROT_WRITE, 0, 0, 0}) == 0) {
      handler.size = size;
      return at;
    }
    (void)call(SYS_munmap, {at, size, 0, 0, 0, 0});
  }
  return 0;
}

/// What the handler's page holds.
std::array<std::byte, Rescue::kCalls> page_content(Address page, const SignalAction& program) {
  std::array<std::byte, Rescue::kCalls> content{};
  static_assert(Rescue::kCode.size() <= Rescue::kOwner);
  constexpr std::uint64_t kRestorerFlag = 0x04000000;  // SA_RESTORER
  const auto put = [&content](std::size_t at, const auto& value) {
    std::memcpy(content.data() + at, &value, sizeof value);
  };
  put(0, Rescue::kCode);
  put(Rescue::kOwner, static_cast<std::uint64_t>(::getpid()));
  put(Rescue::kOurAction,
      SignalAction{page.value(), SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kRestorerFlag,
                   page.value() + Rescue::kRestorer, ~kFaults});
  put(Rescue::kProgramAction, program);
  return content;
}

/// The action that SIGTRAP has in the target; nothing where it cannot be asked.
std::optional<SignalAction> action_now(BreakpointTable& code, pid_t tid,
                                       bool trap_is_served = false) {
  return call_sigaction(code, tid, SIGTRAP, std::nullopt, trap_is_served);
}

bool ignores_trap(pid_t tid) {
  const auto masks = read_signal_masks(tid);
  return masks && (masks->ignored & signal_bit(SIGTRAP)) != 0;
}

void install(BreakpointTable& code, pid_t tid) {
  TrapHandler& handler = code.trap_handler();
  if (ignores_trap(tid)) {
    handler.program = SignalAction{1, 0, 0, 0};
  }
  handler.code_cave = handler.syscall_site = find_code_cave(tid).value_or(Address{});
  handler.page = Address{handler.code_cave == Address{} ? 0 : map_pages(handler, tid)};
  if (handler.page == Address{}) {
    return;
  }
  const auto known = action_now(code, tid);
  SignalAction before = known.value_or(SignalAction{});
  if (before.is_default()) {
    before = handler.program;  // an exec has made it that, or our calls have
  }
  if (before.has_handler() && may_replace(code, before.handler)) {
    await_restoration(code.memory(), Address{before.handler});
    before = {};
  }
  const bool is_ready = known && !before.has_handler() &&
                        code.memory().write(handler.page, page_content(handler.page, before));
  // What a call leaves where we are killed in it is in our own page from now on.
  handler.syscall_site = is_ready ? handler.page + Rescue::kCalls : handler.code_cave;
  handler.is_installed = is_ready && set_action(handler, tid, Rescue::kOurAction);
  if (handler.is_installed) {
    handler.program = before;
    const Address journal = handler.page + Rescue::kBreakpoints;
    code.register_trap_handler({journal, handler.page + handler.size});
  } else {
    handler.syscall_site = handler.code_cave;
    (void)remote_syscall(tid, handler.syscall_site, SYS_munmap,
                         {handler.page.value(), handler.size, 0, 0, 0, 0});
    handler.page = Address{};
  }
}

}  // namespace

std::optional<SignalAction> call_sigaction(BreakpointTable& code, pid_t tid, std::uint64_t signal,
                                           const std::optional<SignalAction>& action,
                                           bool trap_is_served) {
  const TrapHandler& handler = code.trap_handler();
  if (handler.page == Address{}) {
    return std::nullopt;
  }
  const Address answer = handler.page + core::kPageSize;
  const Address given = answer + sizeof(SignalAction);
  if (action && !code.memory().write(given, std::as_bytes(std::span(&*action, 1)))) {
    return std::nullopt;
  }
  const auto result = remote_syscall(
      tid, handler.syscall_site, SYS_rt_sigaction,
      {signal, action ? given.value() : 0, answer.value(), kMaskSize, 0, 0}, trap_is_served);
  SignalAction before;
  if (!result || *result != 0 ||
      code.memory().read(answer, std::as_writable_bytes(std::span(&before, 1))) != sizeof before) {
    return std::nullopt;
  }
  return before;
}

bool postpone_calls(pid_t tid) {
  return signal_to_be_delivered(tid) != 0 && ptrace::interrupt(tid);
}

void install_trap_handler(BreakpointTable& code, pid_t tid) {
  code.trap_handler().tried = true;
  code.trap_handler().has_shadow_stack = has_shadow_stack(tid);
  if (!code.trap_handler().has_shadow_stack) {
    install(code, tid);
  }
  if (!code.trap_handler().is_installed) {
    core::log_detail("process {} would not outlive a SIGKILL of superprofiler", tid);
  }
}

std::string_view reason_for_no_breakpoints(const BreakpointTable& code) {
  return code.trap_handler().has_shadow_stack
             ? "has a shadow stack or is told to (GLIBC_TUNABLES), which breakpoints contradict"
             : "handles SIGTRAP or is confined by seccomp, so that breakpoints or steps would harm "
               "it if superprofiler were killed";
}

void set_program_action(BreakpointTable& code, const SignalAction& action) {
  TrapHandler& handler = code.trap_handler();
  handler.program = action;
  (void)code.memory().write(handler.page + Rescue::kProgramAction,
                            std::as_bytes(std::span(&action, 1)));
}

bool renew_trap_handler(BreakpointTable& code, pid_t tid) {
  TrapHandler& handler = code.trap_handler();
  if (!handler.is_installed) {
    return false;
  }
  const auto current = action_now(code, tid);
  if (!current || current->handler == handler.page.value()) {
    return true;
  }
  handler.is_installed = !current->has_handler() && set_action(handler, tid, Rescue::kOurAction);
  if (handler.is_installed && current->is_ignore()) {
    set_program_action(code, *current);
  }
  return handler.is_installed;
}

bool reset_trap_action(BreakpointTable& code, pid_t tid, bool trap_is_served) {
  TrapHandler& handler = code.trap_handler();
  if (!handler.is_installed) {
    return false;
  }
  // The target may have one of its own since the last look.
  const auto current = action_now(code, tid, trap_is_served);
  const bool has_other = current && current->handler != handler.page.value();
  handler.is_installed =
      !has_other && !set_action(handler, tid, Rescue::kProgramAction, trap_is_served);
  return has_other && current->has_handler();
}

void remove_trap_handler(BreakpointTable& code, pid_t tid) {
  TrapHandler& handler = code.trap_handler();
  if (handler.page == Address{}) {
    return;
  }
  (void)reset_trap_action(code, tid);
  if (!handler.is_installed) {
    // The module may be gone that had room at the beginning.
    handler.syscall_site = handler.code_cave = find_code_cave(tid).value_or(Address{});
    (void)remote_syscall(tid, handler.syscall_site, SYS_munmap,
                         {handler.page.value(), handler.size, 0, 0, 0, 0});
    handler.page = Address{};
  }
}

}  // namespace sp::supervisor
