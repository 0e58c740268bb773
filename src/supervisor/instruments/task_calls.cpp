#include "supervisor/instruments/task_calls.h"

#include <sched.h>

#include <array>
#include <cstring>
#include <string_view>

#include "arch/native.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr std::uint64_t kClearHandlers = 0x1'0000'0000;  // CLONE_CLEAR_SIGHAND
constexpr std::uint64_t kUntraced = CLONE_UNTRACED;

}  // namespace

std::optional<TaskCall> make_child_traced(pid_t tid, const SyscallRequest& call) {
  const std::string_view name = arch::Native::syscall_name(static_cast<int>(call.number));
  if (name == "clone") {
    return TaskCall{call.arguments[0] & ~kUntraced, false};
  }
  if (name != "clone3") {
    return std::nullopt;
  }
  // struct clone_args begins with the flags.
  const Address at{call.arguments[0]};
  std::uint64_t flags = 0;
  std::array<std::byte, sizeof flags> bytes{};
  ThreadMemory memory(tid);
  if (!memory.read(at, bytes)) {
    return std::nullopt;
  }
  std::memcpy(&flags, bytes.data(), sizeof flags);
  if ((flags & kUntraced) != 0) {
    const std::uint64_t traced = flags & ~kUntraced;
    std::memcpy(bytes.data(), &traced, sizeof traced);
    (void)memory.write(at, bytes);
  }
  return TaskCall{call.arguments[0], (flags & kClearHandlers) != 0};
}

}  // namespace sp::supervisor
