#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/fd.h"
#include "core/result.h"

/// Processes that superprofiler starts in order to try what the kernel allows.
namespace sp::supervisor {

/// A child process that runs `body` and exits. Killed and reaped when this goes out of scope.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : parent_(::getpid()), pid_(::fork()) {
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(::getppid() == parent_ ? body() : 1);  // it may have died before the prctl
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      (void)wait();
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Waits for the next report of the child: a stop or its end.
  [[nodiscard]] std::optional<int> wait() {
    int status = 0;
    pid_t reported = 0;
    do {
      reported = ::waitpid(pid_, &status, __WALL);
    } while (reported == -1 && errno == EINTR);
    if (reported != pid_) {
      return std::nullopt;
    }
    if (!WIFSTOPPED(status)) {
      pid_ = -1;
    }
    return status;
  }

 private:
  pid_t parent_;
  pid_t pid_;
};

/// The answer of a probing child: errno and, if that is 0, the value.
template <typename Value>
struct Answer {
  int error = 0;
  Value value{};
};

/// Runs `probe` in a process of its own, so that its tracees and CPU affinity do not become ours.
template <typename Probe>
[[nodiscard]] auto in_own_process(const std::string& doing, Probe probe)
    -> core::Result<decltype(std::declval<Probe>()().value)> {
  using Reply = decltype(probe());
  static_assert(std::is_trivially_copyable_v<Reply>);
  int ends[2];
  if (::pipe(ends) != 0) {
    return core::fail_errno(doing);
  }
  const core::UniqueFd reading(ends[0]);
  core::UniqueFd writing(ends[1]);
  Child child([&] {
    const Reply reply = probe();
    return ::write(writing.get(), &reply, sizeof reply) == sizeof reply ? 0 : 1;
  });
  if (child.pid() < 0) {
    return core::fail_errno(doing);
  }
  writing.reset();
  Reply reply;
  ssize_t got = 0;
  do {
    got = ::read(reading.get(), &reply, sizeof reply);
  } while (got == -1 && errno == EINTR);
  (void)child.wait();
  if (got != sizeof reply) {
    return core::fail(doing, ECHILD);
  }
  if (reply.error != 0) {
    return core::fail(doing, reply.error);
  }
  return reply.value;
}

}  // namespace sp::supervisor
