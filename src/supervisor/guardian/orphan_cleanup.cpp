#include "supervisor/guardian/orphan_cleanup.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "supervisor/guardian/orphaned_children.h"
#include "supervisor/guardian/trap_drain.h"

namespace sp::supervisor {
namespace {

using Rescue = arch::NativeTrapHandler::Rescue;
using std::chrono::milliseconds;

/// Checks the owner first: by now another superprofiler may have attached, with a handler at the
/// same address.
void disarm(int memory, std::uint64_t handler, std::uint64_t superprofiler) {
  constexpr auto& kDisarmed = Rescue::kDisarmed;
  const auto at = static_cast<off_t>(handler);
  std::uint64_t owner = 0;
  if (::pread(memory, &owner, sizeof owner, at + static_cast<off_t>(Rescue::kOwner)) ==
          static_cast<ssize_t>(sizeof owner) &&
      owner == superprofiler) {
    [[maybe_unused]] const ssize_t written = ::pwrite(memory, kDisarmed.data(), kDisarmed.size(),
                                                      at + static_cast<off_t>(Rescue::kDisarmedAt));
  }
}

/// The process that a memory descriptor belongs to; 0 if that cannot be told.
pid_t owner_of(int memory) {
  std::array<char, 64> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(memory);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size() - 1);
  constexpr std::string_view kProc = "/proc/";
  const bool is_process = size > 0 && std::string_view(path.data()).starts_with(kProc);
  return is_process ? static_cast<pid_t>(std::atoi(path.data() + kProc.size())) : 0;
}

/// A handler that threads may still be on their way to.
struct ArmedHandler {
  int memory;
  std::uint64_t address;
  TrapDrain threads;
};

/// Disarms each handler as soon as no thread is on its way to it. Left armed, it would send a
/// program that has breakpoints of its own back to them for ever. Disarmed too early, it would let
/// a thread continue in the middle of an instruction; so if a process is stopped all that time, its
/// handler stays armed.
void disarm_when_drained(std::vector<ArmedHandler> armed, std::uint64_t superprofiler) {
  constexpr int kRounds = 3000;
  for (int round = 0; round < kRounds && !armed.empty(); ++round) {
    std::erase_if(armed, [&](ArmedHandler& handler) {
      const bool is_drained = handler.threads.check();
      if (is_drained) {
        disarm(handler.memory, handler.address, superprofiler);
      }
      return is_drained;
    });
    std::this_thread::sleep_for(milliseconds(20));
  }
}

}  // namespace

void clean_up_orphans(const Journal& journal, const Memories& memories, const Handlers& handlers,
                      std::uint64_t superprofiler) {
  constexpr int kRounds = 200;
  constexpr int kQuietRounds = 20;
  std::set<std::uint64_t> addresses;
  std::set<pid_t> known;
  std::vector<ArmedHandler> armed;
  for (const auto& [space, memory] : memories) {
    const pid_t pid = owner_of(memory.get());
    known.insert(pid);
    if (const auto handler = handlers.find(space); handler != handlers.end()) {
      addresses.insert(handler->second);
      armed.push_back({memory.get(), handler->second, TrapDrain(pid)});
    }
  }
  std::vector<Memories> orphan_memories;
  for (int round = 0, quiet = 0; round < kRounds && quiet < kQuietRounds && !addresses.empty();
       ++round) {
    auto orphans = find_orphaned_children(addresses, superprofiler, known);
    quiet = orphans.empty() ? quiet + 1 : 0;
    for (OrphanedChild& orphan : orphans) {
      known.insert(orphan.pid);
      armed.push_back({orphan.memory.get(), orphan.handler, TrapDrain(orphan.pid)});
      orphan_memories.emplace_back()[orphan.space] = std::move(orphan.memory);
      journal.restore(orphan_memories.back());
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  disarm_when_drained(std::move(armed), superprofiler);
}

}  // namespace sp::supervisor
