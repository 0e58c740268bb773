#include "supervisor/rescue.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "core/log.h"
#include "supervisor/proc_files.h"
#include "supervisor/remote_call.h"
#include "supervisor/rescue_native.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr std::uint64_t kPageSize = 4096;
constexpr std::uint64_t kOurAction = 64;       // within the page, behind the code
constexpr std::uint64_t kDefaultAction = 128;  // zeros
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

bool is_free_to_call(pid_t tid) {
  const auto theirs = read_proc(fmt::format("/proc/{}/status", tid));
  const auto ours = read_proc("/proc/self/status");
  if (!theirs || !ours) {
    return false;
  }
  return status_field(*theirs, "Seccomp") == status_field(*ours, "Seccomp") &&
         status_field(*theirs, "Seccomp_filters") == status_field(*ours, "Seccomp_filters");
}

template <typename Native>
Address find_call(const CountedCode& code) {
  const core::AddressRange vdso = code.vdso();
  std::vector<std::byte> bytes(vdso.size());
  bytes.resize(code.memory().read(vdso.begin, bytes));
  const auto found =
      std::search(bytes.begin(), bytes.end(), Native::kSyscall.begin(), Native::kSyscall.end());
  return found == bytes.end() ? Address{}
                              : vdso.begin + static_cast<std::uint64_t>(found - bytes.begin());
}

bool set_action(const CountedCode::Rescue& rescue, pid_t tid, std::uint64_t action) {
  const auto result = remote_call(tid, rescue.call, SYS_rt_sigaction,
                                  {SIGTRAP, rescue.page.value() + action, 0, kMaskSize, 0, 0});
  return result && *result == 0;
}

/// The default action, or what an earlier run of ours that was killed has left.
template <typename Native>
bool is_to_be_had(CountedCode& code, pid_t tid, std::uint64_t handler) {
  if (handler == 0) {
    return true;
  }
  std::array<std::byte, Native::kHandler.size()> there{};
  if (handler % kPageSize != 0 || code.memory().read(Address{handler}, there) != there.size() ||
      (there[0] != Native::kDisarmed && there[0] != std::byte{Native::kHandler[0]}) ||
      std::memcmp(there.data() + 1, Native::kHandler.data() + 1, there.size() - 1) != 0) {
    return false;
  }
  (void)remote_call(tid, code.rescue().call, SYS_munmap, {handler, kPageSize, 0, 0, 0, 0});
  return true;
}

template <typename Native>
void install(CountedCode& code, pid_t tid) {
  CountedCode::Rescue& rescue = code.rescue();
  constexpr std::uint64_t kRestorerFlag = 0x04000000;  // SA_RESTORER
  const auto call = [&](long number, const std::array<std::uint64_t, 6>& arguments) {
    return remote_call(tid, rescue.call, number, arguments).value_or(-1);
  };
  rescue.call = find_call<Native>(code);
  const std::int64_t page = rescue.call == Address{}
                                ? -1
                                : call(SYS_mmap, {kHint, kPageSize, PROT_READ | PROT_WRITE,
                                                  MAP_PRIVATE | MAP_ANONYMOUS, ~0ULL, 0});
  if (page < 0) {
    return;
  }
  rescue.page = Address{static_cast<std::uint64_t>(page)};
  const std::uint64_t at = rescue.page.value();
  Action before;
  const bool asked =
      call(SYS_rt_sigaction, {SIGTRAP, 0, at, kMaskSize, 0, 0}) == 0 &&
      code.memory().read(rescue.page, std::as_writable_bytes(std::span(&before, 1))) ==
          sizeof before;
  const Action ours{at, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kRestorerFlag,
                    at + Native::kRestorer, 0};
  std::array<std::byte, kOurAction + sizeof ours> content{};
  std::memcpy(content.data(), Native::kHandler.data(), Native::kHandler.size());
  std::memcpy(content.data() + kOurAction, &ours, sizeof ours);
  const auto owner = static_cast<std::uint64_t>(::getpid());
  std::memcpy(content.data() + Native::kOwner, &owner, sizeof owner);
  rescue.handler_is_ours =
      asked && is_to_be_had<Native>(code, tid, before.handler) &&
      code.memory().write(rescue.page, content) &&
      call(SYS_mprotect, {at, kPageSize, PROT_READ | PROT_EXEC, 0, 0, 0}) == 0 &&
      set_action(rescue, tid, kOurAction);
  if (rescue.handler_is_ours) {
    code.tell_guardian_of_handler();
  } else {
    (void)call(SYS_munmap, {at, kPageSize, 0, 0, 0, 0});
    rescue.page = Address{};
  }
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

void install_rescue(CountedCode& code, pid_t tid) {
  code.rescue().tried = true;
  if constexpr (NativeRescue::kAvailable) {
    if (is_free_to_call(tid)) {
      const KeptSignal kept(tid);
      install<NativeRescue>(code, tid);
    }
  }
  if (!code.rescue().handler_is_ours) {
    core::log_detail("process {} would not outlive a SIGKILL of superprofiler", tid);
  }
}

void give_up_handler(CountedCode& code, pid_t tid) {
  CountedCode::Rescue& rescue = code.rescue();
  if (rescue.handler_is_ours) {
    const KeptSignal kept(tid);
    rescue.handler_is_ours = !set_action(rescue, tid, kDefaultAction);
  }
}

void remove_rescue(CountedCode& code, pid_t tid) {
  CountedCode::Rescue& rescue = code.rescue();
  if (rescue.page == Address{}) {
    return;
  }
  const KeptSignal kept(tid);
  if (rescue.handler_is_ours) {
    rescue.handler_is_ours = !set_action(rescue, tid, kDefaultAction);
  }
  if (!rescue.handler_is_ours) {
    (void)remote_call(tid, rescue.call, SYS_munmap, {rescue.page.value(), kPageSize, 0, 0, 0, 0});
    rescue.page = Address{};
  }
}

void set_second_argument(ptrace::Registers& registers, std::uint64_t value) {
  if constexpr (NativeRescue::kAvailable) {
    NativeRescue::set_second_argument(registers, value);
  }
}

}  // namespace sp::supervisor
