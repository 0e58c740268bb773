#include "supervisor/guardian.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <string>

#include "supervisor/proc_files.h"

namespace sp::supervisor {
namespace {

constexpr char kGoodbye = 'q';

void sleep_milliseconds(long milliseconds) {
  const timespec pause{milliseconds / 1000, (milliseconds % 1000) * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

bool is_still(const GuardedProcess& place) {
  const auto stat = read_stat(place.pid);
  return stat && stat->start_time == place.start_time;
}

/// A SIGCONT that comes while a thread stands in the delivery of our SIGSTOP takes that SIGSTOP's
/// effect away (prepare_signal() in kernel/signal.c), and one that comes later starts the process
/// again. Which of the two happens is a race with the kernel's letting go of the tracees, so look
/// for a while.
void undo_stops(GuardianBoard& board) {
  for (int round = 0; round < 100; ++round) {
    bool any = false;
    for (GuardedProcess& place : board.places) {
      if (place.pid == 0 || place.stops_in_flight <= 0 || place.stopped_by_others ||
          !is_still(place)) {
        continue;
      }
      any = true;
      const auto stat = read_stat(place.pid);
      if (round == 0 || (stat && stat->state == 'T')) {
        ::kill(place.pid, SIGCONT);
      }
    }
    if (!any) {
      return;
    }
    sleep_milliseconds(round < 20 ? 2 : 10);
  }
}

/// Gives this process another command line, so that `pkill -f superprofiler` does not match it. The
/// words lie where the kernel put them: fields 48 and 49 of /proc/self/stat.
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

/// The guardian process's whole life.
[[noreturn]] void watch(GuardianBoard& board, int lifeline) {
  ::setsid();
  ::prctl(PR_SET_NAME, "sp-guardian");
  hide_command_line();
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  // Whoever waits for the end of our standard output must not wait for the guardian.
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) {
    ::dup2(nowhere, fd);
  }
  ::dup2(lifeline, 3);
  ::syscall(SYS_close_range, 4U, ~0U, 0U);
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(3, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0 || word != kGoodbye) {
    undo_stops(board);
  }
  ::_exit(0);
}

}  // namespace

core::Result<Guardian> Guardian::start() {
  void* memory = ::mmap(nullptr, sizeof(GuardianBoard), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return core::fail_errno("mapping the guardian's board");
  }
  auto* board = new (memory) GuardianBoard;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return core::fail_errno("making the guardian's pipe");
  }
  const core::UniqueFd read_end(ends[0]);
  core::UniqueFd write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return core::fail_errno("starting the guardian");
  }
  if (pid == 0) {
    watch(*board, read_end.get());
  }
  return Guardian(board, std::move(write_end), pid);
}

Guardian::Guardian(Guardian&& other) noexcept
    : board_(std::exchange(other.board_, nullptr)),
      lifeline_(std::move(other.lifeline_)),
      pid_(other.pid_) {}

Guardian::~Guardian() {
  if (board_ == nullptr) {
    return;
  }
  bool in_flight = false;
  for (const GuardedProcess& place : board_->places) {
    in_flight = in_flight || (place.pid != 0 && place.stops_in_flight > 0);
  }
  if (!in_flight) {
    [[maybe_unused]] const ssize_t sent = ::write(lifeline_.get(), &kGoodbye, 1);
  }
  lifeline_.reset();
  if (!in_flight) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::munmap(board_, sizeof(GuardianBoard));
}

GuardedProcess* Guardian::guard(pid_t pid, std::uint64_t start_time) {
  for (GuardedProcess& place : board_->places) {
    if (place.pid == 0) {
      place.start_time = start_time;
      place.stops_in_flight = 0;
      place.stopped_by_others = false;
      place.pid = pid;
      return &place;
    }
  }
  return nullptr;
}

void Guardian::release(GuardedProcess* place) {
  if (place != nullptr) {
    place->pid = 0;
  }
}

}  // namespace sp::supervisor
