#include "supervisor/guardian/orphan_cleanup.h"

#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "supervisor/guardian/orphaned_children.h"
#include "supervisor/guardian/trap_drain.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;

void sleep_milliseconds(long milliseconds) {
  const timespec pause{milliseconds / 1000, (milliseconds % 1000) * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

/// By now another superprofiler may have attached, with a handler in the same place.
void disarm(int memory, std::uint64_t handler, std::uint64_t superprofiler) {
  constexpr auto& kDisarmed = NativeTrapHandler::kDisarmed;
  const auto at = static_cast<off_t>(handler);
  std::uint64_t owner = 0;
  if (::pread(memory, &owner, sizeof owner, at + static_cast<off_t>(NativeTrapHandler::kOwner)) ==
          static_cast<ssize_t>(sizeof owner) &&
      owner == superprofiler) {
    [[maybe_unused]] const ssize_t written =
        ::pwrite(memory, kDisarmed.data(), kDisarmed.size(), at);
  }
}

/// Whose memory it is; 0 where that cannot be told.
pid_t owner_of(int memory) {
  std::array<char, 64> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(memory);
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size() - 1);
  constexpr std::string_view kProc = "/proc/";
  const bool is_process = size > 0 && std::string_view(path.data()).starts_with(kProc);
  return is_process ? static_cast<pid_t>(std::atoi(path.data() + kProc.size())) : 0;
}

/// A handler that may still be needed.
struct Armed {
  int memory;
  std::uint64_t handler;
  TurnedBack process;
};

/// A program that has breakpoints of its own would turn back to them for ever, so each handler is
/// disarmed as soon as nobody is on the way to it any more. Disarmed too early it would let a
/// thread go on in the middle of an instruction: where a process is stopped all that time, it stays
/// armed.
void disarm_in_time(std::vector<Armed> armed, std::uint64_t superprofiler) {
  constexpr int kLooks = 3000;
  for (int look = 0; look < kLooks && !armed.empty(); ++look) {
    std::erase_if(armed, [&](Armed& handler) {
      const bool turned_back = handler.process.look();
      if (turned_back) {
        disarm(handler.memory, handler.handler, superprofiler);
      }
      return turned_back;
    });
    sleep_milliseconds(20);
  }
}

}  // namespace

void clean_up_left_memory(const PlantedBoard& planted, const Memories& memories,
                          const Handlers& handlers, std::uint64_t superprofiler) {
  constexpr int kRounds = 200;
  constexpr int kQuietRounds = 20;
  std::set<std::uint64_t> places;
  std::set<pid_t> known;
  std::vector<Armed> armed;
  for (const auto& [space, memory] : memories) {
    const pid_t pid = owner_of(memory.get());
    known.insert(pid);
    if (const auto handler = handlers.find(space); handler != handlers.end()) {
      places.insert(handler->second);
      armed.push_back({memory.get(), handler->second, TurnedBack(pid)});
    }
  }
  std::vector<Memories> of_strays;
  for (int round = 0, quiet = 0; round < kRounds && quiet < kQuietRounds && !places.empty();
       ++round) {
    auto strays = find_stray_children(places, superprofiler, known);
    quiet = strays.empty() ? quiet + 1 : 0;
    for (StrayChild& stray : strays) {
      known.insert(stray.pid);
      armed.push_back({stray.memory.get(), stray.handler, TurnedBack(stray.pid)});
      of_strays.emplace_back()[stray.space] = std::move(stray.memory);
      planted.restore(of_strays.back());
    }
    sleep_milliseconds(10);
  }
  disarm_in_time(std::move(armed), superprofiler);
}

}  // namespace sp::supervisor
