#include "supervisor/breakpoints/memory_origin.h"

#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using Rescue = arch::NativeTrapHandler::Rescue;

/// For containers that refuse kcmp(2): a byte written into our page of the one shows in the other.
bool shows_in_each_other(const BreakpointTable& parent, pid_t child) {
  const core::Address page = parent.trap_handler().page;
  if (page == core::Address{}) {
    return false;
  }
  const core::Address place = page + kTrapHandlerScratch;
  const TargetMemory other(child);
  std::array<std::byte, 1> before{};
  std::array<std::byte, 1> seen{};
  if (parent.memory().read(place, before) != before.size()) {
    return false;
  }
  const std::array<std::byte, 1> mark{~before[0]};
  const bool shared =
      parent.memory().write(place, mark) && other.read(place, seen) == seen.size() && seen == mark;
  (void)parent.memory().write(place, before);
  return shared;
}

}  // namespace

MemoryOrigin memory_origin(const BreakpointTable& code, pid_t child) {
  static_assert(Rescue::kSpace == Rescue::kOwner + sizeof(std::uint64_t));
  std::array<std::uint64_t, 2> words{};
  const auto bytes = std::as_writable_bytes(std::span(words));
  const core::Address page = code.trap_handler().page;
  if (page == core::Address{}) {
    return MemoryOrigin::unknown;
  }
  const bool is_ours = TargetMemory(child).read(page + Rescue::kOwner, bytes) == bytes.size() &&
                       words[0] == static_cast<std::uint64_t>(::getpid()) && words[1] != 0;
  return !is_ours                   ? MemoryOrigin::before_handler
         : words[1] == code.space() ? MemoryOrigin::copy
                                    : MemoryOrigin::other_process;
}

bool has_borrowed_memory(pid_t process) {
  const auto stat = read_stat(process);
  const long order =
      stat && stat->parent > 0 ? ::syscall(SYS_kcmp, process, stat->parent, KCMP_VM, 0UL, 0UL) : 1;
  if (order == 0) {
    return true;
  }
  if (order < 0 && errno != ESRCH) {
    // Refused: who has called vfork waits like this for its child.
    const auto parent = read_stat(stat->parent);
    return parent && parent->state == 'D';
  }
  for (const pid_t tid : list_threads(process).value_or(std::vector<pid_t>{})) {
    std::istringstream children(
        read_proc(fmt::format("/proc/{}/task/{}/children", process, tid)).value_or(""));
    for (pid_t child = 0; children >> child;) {
      if (::syscall(SYS_kcmp, process, child, KCMP_VM, 0UL, 0UL) == 0) {
        return true;
      }
    }
  }
  return false;
}

bool has_own_memory(pid_t process, pid_t other) {
  return ::syscall(SYS_kcmp, process, other, KCMP_VM, 0UL, 0UL) > 0;
}

bool shares_memory(const BreakpointTable& parent, pid_t child) {
  const long order = ::syscall(SYS_kcmp, parent.owner().pid, child, KCMP_VM, 0UL, 0UL);
  if (order >= 0 || errno == ESRCH) {
    return order == 0;
  }
  return shows_in_each_other(parent, child);
}

}  // namespace sp::supervisor
