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
#include "supervisor/injection/code_cave.h"
#include "supervisor/injection/remote_syscall.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/shadow_stack.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;
using core::Address;

constexpr std::uint64_t kPageSize = 4096;
constexpr std::uint64_t kMapped = 2 * kPageSize;  // code, and a page for what calls answer
constexpr std::uint64_t kOurAction = 64;          // within the page, behind the code
constexpr std::uint64_t kDefaultAction = 128;     // zeros
constexpr std::uint64_t kCalls = 512;             // up to the page's end
constexpr std::uint64_t kMaskSize = 8;
/// Where neither the kernel nor a sanitizer puts anything, so that nothing of the target's is
/// moved.
constexpr std::uint64_t kHint = 0x6800'0000'0000;

/// The kernel's struct sigaction.
struct Action {
  std::uint64_t handler = 0;
  std::uint64_t flags = 0;
  std::uint64_t restorer = 0;
  std::uint64_t mask = 0;
};

bool set_action(const TrapHandler& handler, pid_t tid, std::uint64_t action) {
  const auto result = remote_syscall(tid, handler.syscall_site, SYS_rt_sigaction,
                                     {SIGTRAP, handler.page.value() + action, 0, kMaskSize, 0, 0});
  return result && *result == 0;
}

/// The default action, or what an earlier run of ours that was killed has left.
bool may_replace(const BreakpointTable& code, std::uint64_t handler) {
  if (handler == 0) {
    return true;
  }
  constexpr auto& kCode = NativeTrapHandler::kHandler;
  constexpr auto& kDisarmed = NativeTrapHandler::kDisarmed;
  constexpr std::size_t kFirst = kDisarmed.size();
  std::array<std::byte, kCode.size()> there{};
  if (handler % kPageSize != 0 || code.memory().read(Address{handler}, there) != there.size() ||
      (std::memcmp(there.data(), kDisarmed.data(), kFirst) != 0 &&
       std::memcmp(there.data(), kCode.data(), kFirst) != 0) ||
      std::memcmp(there.data() + kFirst, kCode.data() + kFirst, kCode.size() - kFirst) != 0) {
    return false;
  }
  // It stays: a thread may still be in what a call of that run left there.
  return true;
}

void install(BreakpointTable& code, pid_t tid) {
  TrapHandler& handler = code.trap_handler();
  constexpr std::uint64_t kRestorerFlag = 0x04000000;  // SA_RESTORER
  const auto call = [&](long number, const std::array<std::uint64_t, 6>& arguments) {
    return remote_syscall(tid, handler.syscall_site, number, arguments).value_or(-1);
  };
  handler.code_cave = handler.syscall_site = find_code_cave(tid).value_or(Address{});
  const std::int64_t page = handler.code_cave == Address{}
                                ? -1
                                : call(SYS_mmap, {kHint, kMapped, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, ~0ULL, 0});
  if (page < 0) {
    return;
  }
  handler.page = Address{static_cast<std::uint64_t>(page)};
  const std::uint64_t at = handler.page.value();
  Action before;
  const bool asked =
      call(SYS_rt_sigaction, {SIGTRAP, 0, at, kMaskSize, 0, 0}) == 0 &&
      code.memory().read(handler.page, std::as_writable_bytes(std::span(&before, 1))) ==
          sizeof before;
  const Action ours{at, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kRestorerFlag,
                    at + NativeTrapHandler::kRestorer, 0};
  static_assert(NativeTrapHandler::kHandler.size() <= NativeTrapHandler::kOwner &&
                NativeTrapHandler::kHandler.size() <= kOurAction &&
                NativeTrapHandler::kSpace + sizeof(std::uint64_t) <= kDefaultAction);
  std::array<std::byte, kDefaultAction> content{};
  std::memcpy(content.data(), NativeTrapHandler::kHandler.data(),
              NativeTrapHandler::kHandler.size());
  std::memcpy(content.data() + kOurAction, &ours, sizeof ours);
  const auto owner = static_cast<std::uint64_t>(::getpid());
  std::memcpy(content.data() + NativeTrapHandler::kOwner, &owner, sizeof owner);
  const bool is_ready = asked && may_replace(code, before.handler) &&
                        code.memory().write(handler.page, content) &&
                        call(SYS_mprotect, {at, kPageSize, PROT_READ | PROT_EXEC, 0, 0, 0}) == 0;
  // What a call leaves where we are killed in it is in our own page from now on.
  handler.syscall_site = is_ready ? handler.page + kCalls : handler.code_cave;
  handler.is_installed = is_ready && set_action(handler, tid, kOurAction);
  if (handler.is_installed) {
    code.register_trap_handler();
  } else {
    handler.syscall_site = handler.code_cave;
    (void)call(SYS_munmap, {at, kMapped, 0, 0, 0, 0});
    handler.page = Address{};
  }
}

/// The handler that SIGTRAP has in the target; nothing where it cannot be asked.
std::optional<std::uint64_t> handler_now(BreakpointTable& code, pid_t tid) {
  const TrapHandler& handler = code.trap_handler();
  const Address answer = handler.page + kPageSize;
  Action now;
  const auto asked = remote_syscall(tid, handler.syscall_site, SYS_rt_sigaction,
                                    {SIGTRAP, 0, answer.value(), kMaskSize, 0, 0});
  if (!asked || *asked != 0 ||
      code.memory().read(answer, std::as_writable_bytes(std::span(&now, 1))) != sizeof now) {
    return std::nullopt;
  }
  return now.handler;
}

/// Keeps the signal of a stop over calls made in it.
class KeptSignal {
 public:
  explicit KeptSignal(pid_t tid) : tid_(tid), info_(ptrace::signal_info(tid)) {}
  KeptSignal(const KeptSignal&) = delete;
  KeptSignal& operator=(const KeptSignal&) = delete;
  ~KeptSignal() {
    if (info_) {
      (void)ptrace::set_signal_info(tid_, *info_);
    }
  }

 private:
  pid_t tid_;
  core::Result<siginfo_t> info_;
};

}  // namespace

void install_trap_handler(BreakpointTable& code, pid_t tid) {
  code.trap_handler().tried = true;
  code.trap_handler().has_shadow_stack = has_shadow_stack(tid);
  if (!code.trap_handler().has_shadow_stack) {
    const KeptSignal kept(tid);
    install(code, tid);
  }
  if (!code.trap_handler().is_installed) {
    core::log_detail("process {} would not outlive a SIGKILL of superprofiler", tid);
  }
}

std::string_view reason_for_no_breakpoints(const BreakpointTable& code) {
  return code.trap_handler().has_shadow_stack
             ? "has a shadow stack or is told to (GLIBC_TUNABLES), which breakpoints contradict"
             : "handles SIGTRAP or is confined by seccomp, so that breakpoints could outlive "
               "superprofiler";
}

bool renew_trap_handler(BreakpointTable& code, pid_t tid) {
  TrapHandler& handler = code.trap_handler();
  if (!handler.is_installed) {
    return false;
  }
  const KeptSignal kept(tid);
  const auto current = handler_now(code, tid);
  if (!current || *current == handler.page.value()) {
    return true;
  }
  const bool is_free = *current == 0 || *current == 1;  // SIG_DFL, SIG_IGN
  handler.is_installed = is_free && set_action(handler, tid, kOurAction);
  return handler.is_installed;
}

bool reset_trap_action(BreakpointTable& code, pid_t tid) {
  TrapHandler& handler = code.trap_handler();
  if (!handler.is_installed) {
    return false;
  }
  const KeptSignal kept(tid);
  // The target may have one of its own since the last look.
  const auto current = handler_now(code, tid);
  const bool has_other = current && *current != handler.page.value();
  handler.is_installed = !has_other && !set_action(handler, tid, kDefaultAction);
  return has_other && *current != 0;
}

void remove_trap_handler(BreakpointTable& code, pid_t tid) {
  TrapHandler& handler = code.trap_handler();
  if (handler.page == Address{}) {
    return;
  }
  (void)reset_trap_action(code, tid);
  if (!handler.is_installed) {
    const KeptSignal kept(tid);
    // The module may be gone that had room at the beginning.
    handler.syscall_site = handler.code_cave = find_code_cave(tid).value_or(Address{});
    (void)remote_syscall(tid, handler.syscall_site, SYS_munmap,
                         {handler.page.value(), kMapped, 0, 0, 0, 0});
    handler.page = Address{};
  }
}

}  // namespace sp::supervisor
