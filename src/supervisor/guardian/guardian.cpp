#include "supervisor/guardian/guardian.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "supervisor/guardian/guardian_messages.h"
#include "supervisor/guardian/guardian_process.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

namespace {

/// It has nothing left to do but to end. Where programs with a real-time priority keep all CPUs
/// busy it may not run for minutes: that must not stop us.
void wait_for_end(pid_t pid) {
  constexpr int kLongest = 5'000;  // ms
  const core::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd end{process.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&end, 1, kLongest);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    ::kill(pid, SIGKILL);
  }
  const int options = ready == 0 ? WNOHANG : 0;
  while (::waitpid(pid, nullptr, options) < 0 && errno == EINTR) {
  }
}

}  // namespace

core::Result<Guardian> Guardian::start() {
  void* memory = ::mmap(nullptr, sizeof(SharedTables), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return core::fail_errno("mapping the guardian's tables");
  }
  auto* tables = new (memory) SharedTables;
  auto journal = std::make_unique<Journal>();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return core::fail_errno("creating the guardian's socket");
  }
  const core::UniqueFd its_end(ends[0]);
  core::UniqueFd our_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return core::fail_errno("starting the guardian");
  }
  if (pid == 0) {
    our_end.reset();  // or its own copy would keep the socket open after our death
    run_guardian_process(*tables, *journal, its_end.get());
  }
  ptrace::list_steps_in(&tables->steps);
  return Guardian(tables, std::move(journal), std::move(our_end), pid);
}

Guardian::Guardian(Guardian&& other) noexcept
    : tables_(std::exchange(other.tables_, nullptr)),
      journal_(std::move(other.journal_)),
      socket_(std::move(other.socket_)),
      pid_(other.pid_) {}

Guardian::~Guardian() {
  if (tables_ == nullptr) {
    return;
  }
  const bool in_flight = tables_->pending_stops.any_in_flight();
  if (!in_flight) {
    (void)send_message(socket_.get(), {}, -1);
  }
  socket_.reset();
  if (!in_flight) {
    wait_for_end(pid_);
  }
  ptrace::list_steps_in(nullptr);
  ::munmap(tables_, sizeof(SharedTables));
}

PendingStops* Guardian::guard(pid_t pid) { return tables_->pending_stops.add(pid); }

void Guardian::release(PendingStops* entry) {
  if (entry != nullptr) {
    entry->pid = 0;
  }
}

bool Guardian::register_memory(std::uint32_t space, int memory) {
  return send_message(socket_.get(), {GuardianMessage::Kind::register_memory, space, 0}, memory);
}

void Guardian::unregister_memory(std::uint32_t space) {
  (void)send_message(socket_.get(), {GuardianMessage::Kind::unregister_memory, space, 0}, -1);
}

void Guardian::register_trap_handler(std::uint32_t space, core::Address handler) {
  (void)send_message(socket_.get(),
                     {GuardianMessage::Kind::register_handler, space, handler.value()}, -1);
}

void Guardian::register_terminal(int fd, const termios& before, const termios& during) {
  tables_->terminal.before = before;
  tables_->terminal.during = during;
  (void)send_message(socket_.get(), {GuardianMessage::Kind::register_terminal, 0, 0}, fd);
  tables_->terminal.is_changed = true;
}

}  // namespace sp::supervisor
