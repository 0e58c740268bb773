#pragma once

#include <sys/types.h>
#include <termios.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "core/address.h"
#include "core/fd.h"
#include "core/result.h"
#include "supervisor/guardian/guardian_process.h"
#include "supervisor/guardian/journal.h"
#include "supervisor/guardian/pending_stops.h"

namespace sp::supervisor {

/// The guardian: a process that restores the target if superprofiler is killed. This class is
/// superprofiler's end of it and is used on the ptrace thread.
///
/// The kernel detaches tracees when their tracer dies, but a SIGSTOP that is pending then would
/// leave the target stopped, and breakpoints would stay in its code. The guardian
///   - ends the single steps of threads, where the kernel does not (SteppedThreads);
///   - restores the bytes that the Journal lists, through the /proc/PID/mem descriptors that were
///     registered;
///   - sends SIGCONT to processes with entries in the pending-stop table, unless somebody else has
///     stopped them as well;
///   - puts the terminal back that a full-screen view has changed;
///   - finds forked children that it was not told of, and disarms the injected SIGTRAP handlers.
///
/// In: messages over a socket (registered memory, handlers, goodbye), and pieces of shared
/// memory, the journal and the SharedTables, which need no message. The guardian polls the
/// socket and a signalfd for the parent-death signal of the ptrace thread. Out: nothing.
class Guardian {
 public:
  /// Forks it; call it while the process has one thread. The guardian closes every descriptor that
  /// is not its own and leaves our session and process group. It is a child of ours, so that
  /// wait(2) for any child reports its end too.
  [[nodiscard]] static core::Result<Guardian> start();

  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  /// Says goodbye and waits for the process's end; unless a stop is still pending: then the
  /// guardian outlives us and undoes it.
  ~Guardian();

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// An entry of the pending-stop table; null if all are taken: then the process must not be sent
  /// SIGSTOP.
  [[nodiscard]] PendingStops* guard(pid_t pid);
  static void release(PendingStops* entry);

  /// Registers the /proc/PID/mem descriptor of an address space that breakpoints are inserted in.
  /// False if the guardian is dead.
  [[nodiscard]] bool register_memory(std::uint32_t space, int memory);
  void unregister_memory(std::uint32_t space);
  /// Registers the injected SIGTRAP handler of an address space (breakpoints/trap_handler.h), which
  /// is to be disarmed once the breakpoints are gone.
  void register_trap_handler(std::uint32_t space, core::Address handler);
  /// Registers the terminal behind `fd`, which the caller is about to change.
  void register_terminal(int fd, const termios& before, const termios& during);
  /// The terminal is as it was.
  void unregister_terminal() { tables_->terminal.is_changed = false; }
  [[nodiscard]] Journal& journal() { return *journal_; }

 private:
  Guardian(SharedTables* tables, std::unique_ptr<Journal> journal, core::UniqueFd socket, pid_t pid)
      : tables_(tables), journal_(std::move(journal)), socket_(std::move(socket)), pid_(pid) {}

  SharedTables* tables_;
  std::unique_ptr<Journal> journal_;
  core::UniqueFd socket_;
  pid_t pid_;
};

}  // namespace sp::supervisor
