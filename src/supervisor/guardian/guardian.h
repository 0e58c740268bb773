#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/fd.h"
#include "core/result.h"
#include "supervisor/guardian/journal.h"

namespace sp::supervisor {

/// One process that a SIGSTOP of ours may be on its way to. Lives in memory that is shared with the
/// guardian process.
struct PendingStops {
  std::atomic<pid_t> pid{0};  // 0: the place is free
  std::atomic<std::uint64_t> start_time{0};
  /// SIGSTOPs that were sent and whose stop was not yet ended.
  std::atomic<int> stops_in_flight{0};
  /// Somebody else has stopped it: it must stay stopped without us.
  std::atomic<bool> stopped_by_others{false};
};

struct PendingStopTable {
  static constexpr std::size_t kPlaces = 4096;
  std::array<PendingStops, kPlaces> places;
};

/// A process that outlives a SIGKILL of superprofiler for a moment. The kernel lets tracees go when
/// their tracer dies, but a SIGSTOP that was then in flight would leave the target stopped: the
/// guardian undoes it with SIGCONT, unless somebody else had stopped the target as well. It also
/// takes away breakpoints that are left.
class Guardian {
 public:
  /// Forks it; to be called while the process has one thread. It closes every descriptor that is
  /// not its own, leaves our session and process group, and does nothing but wait. It is a child of
  /// ours, so that wait(2) for any child sees its end too.
  [[nodiscard]] static core::Result<Guardian> start();

  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  /// Sends it away, for nothing is in flight any more, and waits for its end.
  ~Guardian();

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// A place for a process; nullptr where all are taken (it is then not to be sent SIGSTOP).
  [[nodiscard]] PendingStops* guard(pid_t pid, std::uint64_t start_time);
  static void release(PendingStops* place);

  /// Hands it the memory of an address space that breakpoints are planted in, and says when that is
  /// gone.
  [[nodiscard]] bool register_memory(std::uint32_t space, int memory);
  void unregister_memory(std::uint32_t space);
  /// There is a handler in it (see rescue.h) that has nothing to do once the breakpoints are gone.
  void register_trap_handler(std::uint32_t space, core::Address handler);
  [[nodiscard]] Journal& journal() { return *journal_; }

 private:
  Guardian(PendingStopTable* board, std::unique_ptr<Journal> planted, core::UniqueFd lifeline,
           pid_t pid)
      : board_(board), journal_(std::move(planted)), lifeline_(std::move(lifeline)), pid_(pid) {}

  PendingStopTable* board_;
  std::unique_ptr<Journal> journal_;
  core::UniqueFd lifeline_;
  pid_t pid_;
};

}  // namespace sp::supervisor
