#include "supervisor/guardian/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <sstream>
#include <string>

#include "supervisor/guardian/orphan_cleanup.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// What is told over the lifeline.
struct Word {
  enum class Kind { goodbye, memory, memory_gone, handler } kind = Kind::goodbye;
  std::uint32_t space = 0;
  std::uint64_t address = 0;
};

/// Sends a word, and with it a descriptor unless that is -1.
bool send_word(int lifeline, Word word, int descriptor) {
  iovec piece{&word, sizeof word};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(lifeline, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof word);
}

/// Waits for the next word. False where there may be none: the ptrace thread is dead, and its
/// tracees run. The line itself ends only when the last of our threads is gone.
bool wait_for_word(int lifeline, int death) {
  std::array<pollfd, 2> both{{{lifeline, POLLIN, 0}, {death, POLLIN, 0}}};
  while (::poll(both.data(), both.size(), -1) < 0 && errno == EINTR) {
  }
  return both[1].revents == 0;
}

/// False at the end of the line.
bool receive_word(int lifeline, int death, Word& word, core::UniqueFd& descriptor) {
  const int flags = MSG_CMSG_CLOEXEC | (wait_for_word(lifeline, death) ? 0 : MSG_DONTWAIT);
  iovec piece{&word, sizeof word};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(lifeline, &message, flags);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof word)) {
    return false;
  }
  if (const cmsghdr* const header = CMSG_FIRSTHDR(&message); header != nullptr) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof number);
    descriptor = core::UniqueFd(number);
  }
  return true;
}

void sleep_milliseconds(long milliseconds) {
  const timespec pause{milliseconds / 1000, (milliseconds % 1000) * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

/// Listens until superprofiler says goodbye (true) or is gone.
bool listen_until_the_end(int lifeline, int death, Memories& memories, Handlers& handlers) {
  for (;;) {
    Word word;
    core::UniqueFd descriptor;
    if (!receive_word(lifeline, death, word, descriptor)) {
      return false;
    }
    switch (word.kind) {
      case Word::Kind::goodbye:
        return true;
      case Word::Kind::memory:
        memories[word.space] = std::move(descriptor);
        break;
      case Word::Kind::memory_gone:
        memories.erase(word.space);
        handlers.erase(word.space);
        break;
      case Word::Kind::handler:
        handlers[word.space] = word.address;
        break;
    }
  }
}

bool is_still(const PendingStops& place) {
  const auto stat = read_stat(place.pid);
  return stat && stat->start_time == place.start_time;
}

/// A SIGCONT that comes while a thread stands in the delivery of our SIGSTOP takes that SIGSTOP's
/// effect away (prepare_signal() in kernel/signal.c), and one that comes later starts the process
/// again. Which of the two happens is a race with the kernel's letting go of the tracees, so look
/// for a while.
void undo_stops(PendingStopTable& board) {
  for (int round = 0; round < 100; ++round) {
    bool any = false;
    for (PendingStops& place : board.places) {
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
[[noreturn]] void watch(PendingStopTable& board, const Journal& planted, int lifeline) {
  const auto superprofiler = static_cast<std::uint64_t>(::getppid());
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
  // When it is needed the target's threads turn in circles at their breakpoints, on every CPU.
  const sched_param first{1};
  (void)::sched_setscheduler(0, SCHED_FIFO, &first);
  // Sent at the end of the thread that forked us: the ptrace thread.
  ::prctl(PR_SET_PDEATHSIG, SIGUSR1);
  sigset_t of_death;
  ::sigemptyset(&of_death);
  ::sigaddset(&of_death, SIGUSR1);
  const int death = ::signalfd(-1, &of_death, SFD_CLOEXEC);
  Memories memories;
  Handlers handlers;
  if (!listen_until_the_end(3, death, memories, handlers)) {
    planted.restore(memories);
    const sched_param ordinary{};
    (void)::sched_setscheduler(0, SCHED_OTHER, &ordinary);
    undo_stops(board);
    clean_up_orphans(planted, memories, handlers, superprofiler);
  }
  ::_exit(0);
}

}  // namespace

core::Result<Guardian> Guardian::start() {
  void* memory = ::mmap(nullptr, sizeof(PendingStopTable), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return core::fail_errno("mapping the guardian's board");
  }
  auto* board = new (memory) PendingStopTable;
  auto planted = std::make_unique<Journal>();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return core::fail_errno("making the guardian's lifeline");
  }
  const core::UniqueFd read_end(ends[0]);
  core::UniqueFd write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return core::fail_errno("starting the guardian");
  }
  if (pid == 0) {
    write_end.reset();  // or it would hold the line itself
    watch(*board, *planted, read_end.get());
  }
  return Guardian(board, std::move(planted), std::move(write_end), pid);
}

Guardian::Guardian(Guardian&& other) noexcept
    : board_(std::exchange(other.board_, nullptr)),
      journal_(std::move(other.journal_)),
      lifeline_(std::move(other.lifeline_)),
      pid_(other.pid_) {}

Guardian::~Guardian() {
  if (board_ == nullptr) {
    return;
  }
  bool in_flight = false;
  for (const PendingStops& place : board_->places) {
    in_flight = in_flight || (place.pid != 0 && place.stops_in_flight > 0);
  }
  if (!in_flight) {
    (void)send_word(lifeline_.get(), {}, -1);
  }
  lifeline_.reset();
  if (!in_flight) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ::munmap(board_, sizeof(PendingStopTable));
}

PendingStops* Guardian::guard(pid_t pid, std::uint64_t start_time) {
  for (PendingStops& place : board_->places) {
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

bool Guardian::register_memory(std::uint32_t space, int memory) {
  return send_word(lifeline_.get(), {Word::Kind::memory, space, 0}, memory);
}

void Guardian::register_trap_handler(std::uint32_t space, core::Address handler) {
  (void)send_word(lifeline_.get(), {Word::Kind::handler, space, handler.value()}, -1);
}

void Guardian::unregister_memory(std::uint32_t space) {
  (void)send_word(lifeline_.get(), {Word::Kind::memory_gone, space, 0}, -1);
}

void Guardian::release(PendingStops* place) {
  if (place != nullptr) {
    place->pid = 0;
  }
}

}  // namespace sp::supervisor
