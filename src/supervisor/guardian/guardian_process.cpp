#include "supervisor/guardian/guardian_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/fd.h"
#include "supervisor/guardian/guardian_messages.h"
#include "supervisor/guardian/orphan_cleanup.h"
#include "supervisor/guardian/restoration.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/terminal_modes.h"

namespace sp::supervisor {
namespace {

constexpr int kSocket = 3;

/// What superprofiler has registered, by the number of the address space.
using Memories = std::map<std::uint32_t, core::UniqueFd>;
using Handlers = std::map<std::uint32_t, std::uint64_t>;

/// Returns true when superprofiler says goodbye, false when it is dead.
bool listen_until_the_end(int death, Memories& memories, Handlers& handlers,
                          core::UniqueFd& terminal) {
  for (;;) {
    GuardianMessage message;
    core::UniqueFd descriptor;
    if (!receive_message(kSocket, death, message, descriptor)) {
      return false;
    }
    switch (message.kind) {
      case GuardianMessage::Kind::goodbye:
        return true;
      case GuardianMessage::Kind::register_memory:
        memories[message.space] = std::move(descriptor);
        break;
      case GuardianMessage::Kind::unregister_memory:
        memories.erase(message.space);
        handlers.erase(message.space);
        break;
      case GuardianMessage::Kind::register_handler:
        handlers[message.space] = message.address;
        break;
      case GuardianMessage::Kind::register_terminal:
        terminal = std::move(descriptor);
        break;
    }
  }
}

/// Gives this process another command line, so that `pkill -f superprofiler` does not match it. The
/// kernel says where it is: fields 48 and 49 of /proc/self/stat.
void hide_command_line() {
  const auto text = read_proc("/proc/self/stat");
  if (!text) {
    return;
  }
  std::istringstream fields(text->substr(text->rfind(')') + 1));
  std::string field;
  std::array<std::uintptr_t, 2> ends{};
  for (int number = 3; number <= 49 && fields >> field; ++number) {
    if (number >= 48) {
      ends.at(static_cast<std::size_t>(number) - 48) = std::strtoull(field.c_str(), nullptr, 10);
    }
  }
  if (ends[0] == 0 || ends[1] <= ends[0]) {
    return;
  }
  char* const words = reinterpret_cast<char*>(ends[0]);
  std::memset(words, 0, ends[1] - ends[0]);
  std::strncpy(words, "sp-guardian", ends[1] - ends[0] - 1);
}

/// Leaves superprofiler's session, blocks all signals and keeps no descriptor but the socket, which
/// becomes kSocket.
void leave_superprofiler(int socket) {
  ::setsid();
  ::prctl(PR_SET_NAME, "sp-guardian");
  hide_command_line();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  // Whoever waits for the end of our standard output must not wait for the guardian.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < kSocket; ++fd) {
    ::dup2(null, fd);
  }
  ::dup2(socket, kSocket);
  ::syscall(SYS_close_range, static_cast<unsigned>(kSocket) + 1, ~0U, 0U);
}

/// A descriptor that becomes readable when the thread that forked us, the ptrace thread, ends.
int open_death_descriptor() {
  ::prctl(PR_SET_PDEATHSIG, SIGUSR1);
  sigset_t of_death;
  ::sigemptyset(&of_death);
  ::sigaddset(&of_death, SIGUSR1);
  return ::signalfd(-1, &of_death, SFD_CLOEXEC);
}

std::vector<SpaceMemory> registered(const Memories& memories, const Handlers& handlers) {
  std::vector<SpaceMemory> all;
  for (const auto& [space, memory] : memories) {
    const auto handler = handlers.find(space);
    all.push_back({space, memory.get(), handler != handlers.end() ? handler->second : 0});
  }
  return all;
}

}  // namespace

void run_guardian_process(SharedTables& tables, const Journal& journal, int socket) {
  const auto superprofiler = static_cast<std::uint64_t>(::getppid());
  leave_superprofiler(socket);
  // When the guardian is needed, the target's threads loop at their breakpoints, on every CPU.
  const sched_param first{1};
  (void)::sched_setscheduler(0, SCHED_FIFO, &first);
  const int death = open_death_descriptor();
  Memories memories;
  Handlers handlers;
  core::UniqueFd terminal;
  if (!listen_until_the_end(death, memories, handlers, terminal)) {
    tables.steps.end_steps();
    const auto spaces = registered(memories, handlers);
    HeldGates held;
    restore_memories(journal, spaces, superprofiler, held);
    const sched_param ordinary{};
    (void)::sched_setscheduler(0, SCHED_OTHER, &ordinary);
    tables.pending_stops.undo();
    if (tables.terminal.is_changed) {
      restore_terminal_left(terminal.get(), tables.terminal);
    }
    clean_up_orphans(journal, spaces, superprofiler, held);
  }
  ::_exit(0);
}

}  // namespace sp::supervisor
