#include "supervisor/guardian/orphan_cleanup.h"

#include <chrono>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "supervisor/guardian/handler_page.h"
#include "supervisor/guardian/orphaned_children.h"
#include "supervisor/guardian/restoration.h"
#include "supervisor/guardian/trap_drain.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

/// A handler that threads may still be on their way to.
struct ArmedHandler {
  SpaceMemory memory;
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
        disarm_handler(handler.memory, superprofiler);
      }
      return is_drained;
    });
    std::this_thread::sleep_for(milliseconds(20));
  }
}

}  // namespace

void clean_up_orphans(const Journal& journal, std::span<const SpaceMemory> memories,
                      std::uint64_t superprofiler, HeldGates& held) {
  constexpr int kRounds = 200;
  constexpr int kQuietRounds = 20;
  std::set<std::uint64_t> addresses;
  std::set<pid_t> known;
  std::vector<ArmedHandler> armed;
  for (const SpaceMemory& memory : memories) {
    const pid_t pid = owner_of(memory);
    known.insert(pid);
    if (memory.handler != 0) {
      addresses.insert(memory.handler);
      armed.push_back({memory, TrapDrain(pid)});
    }
  }
  std::vector<core::UniqueFd> open;
  for (int round = 0, quiet = 0; round < kRounds && quiet < kQuietRounds && !addresses.empty();
       ++round) {
    auto orphans = find_orphaned_children(addresses, superprofiler, known);
    quiet = orphans.empty() ? quiet + 1 : 0;
    std::vector<SpaceMemory> found;
    for (OrphanedChild& orphan : orphans) {
      known.insert(orphan.pid);
      found.push_back({orphan.space, orphan.memory.get(), orphan.handler});
      armed.push_back({found.back(), TrapDrain(orphan.pid)});
      open.push_back(std::move(orphan.memory));
    }
    if (!found.empty()) {
      restore_memories(journal, found, superprofiler, held);
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  disarm_when_drained(std::move(armed), superprofiler);
}

}  // namespace sp::supervisor
