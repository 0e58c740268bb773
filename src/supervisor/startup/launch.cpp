#include "supervisor/startup/launch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "supervisor/channels/control_signals.h"
#include "supervisor/linux/open_files.h"

namespace sp::supervisor {
namespace {

/// Runs in the child, between fork and exec; only async-signal-safe calls. If the exec fails,
/// writes its errno to `error` and exits.
[[noreturn]] void exec_when_told(char* const* argv, bool no_aslr, int go, int error) {
  char word = 0;
  ssize_t got = 0;
  do {
    got = ::read(go, &word, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) {
    ::_exit(125);  // superprofiler is gone
  }
  if (no_aslr) {
    const int persona = ::personality(0xFFFFFFFF);
    if (persona != -1) {
      // Some containers' seccomp profiles refuse it; then addresses stay random.
      ::personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE);
    }
  }
  if (const rlimit* const before = open_files_limit_before()) {
    ::setrlimit(RLIMIT_NOFILE, before);
  }
  restore_signals_for_child();
  ::execvp(argv[0], argv);
  const int code = errno;
  [[maybe_unused]] const ssize_t written = ::write(error, &code, sizeof code);
  ::_exit(status_of_exec_error(code));
}

core::Result<std::pair<core::UniqueFd, core::UniqueFd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return core::fail_errno("making a pipe");
  }
  return std::pair{core::UniqueFd(ends[0]), core::UniqueFd(ends[1])};
}

}  // namespace

core::Result<LaunchedChild> LaunchedChild::fork(const LaunchOptions& options) {
  auto go = make_pipe();
  auto error = make_pipe();
  if (!go || !error) {
    return tl::unexpected(!go ? go.error() : error.error());
  }
  std::vector<char*> argv;
  for (const std::string& word : options.argv) {
    argv.push_back(const_cast<char*>(word.c_str()));  // NOLINT: execvp does not write to it
  }
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return core::fail_errno("starting a process");
  }
  if (pid == 0) {
    go->second.reset();  // or the child's copy would keep the pipe open after superprofiler's death
    exec_when_told(argv.data(), options.no_aslr, go->first.get(), error->second.get());
  }
  return LaunchedChild(pid, std::move(go->second), std::move(error->first));
}

void LaunchedChild::go() {
  const char word = 'g';
  ssize_t written = 0;
  do {
    written = ::write(go_.get(), &word, 1);
  } while (written < 0 && errno == EINTR);
  go_.reset();
}

int LaunchedChild::exec_error() {
  int code = 0;
  ssize_t got = 0;
  do {
    got = ::read(error_.get(), &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof code) ? code : 0;
}

int status_of_exec_error(int error) { return error == ENOENT || error == ENOTDIR ? 127 : 126; }

std::string explain_exec_error(const std::string& program, int error) {
  const bool is_path = program.find('/') != std::string::npos;
  if (error == ENOENT && !is_path) {
    return fmt::format("cannot run '{}': not found in PATH; check the spelling or give its path",
                       program);
  }
  if (error == ENOENT) {
    struct stat status {};
    if (::stat(program.c_str(), &status) == 0) {
      return fmt::format(
          "cannot run '{}': the file is there but its interpreter (#! line or ELF loader) is not",
          program);
    }
    return fmt::format("cannot run '{}': no such file", program);
  }
  if (error == EACCES) {
    struct stat status {};
    if (::stat(program.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      return fmt::format("cannot run '{}': it is a directory", program);
    }
    return fmt::format("cannot run '{}': permission denied; is it executable? (chmod +x)", program);
  }
  return fmt::format("cannot run '{}': {}", program, std::strerror(error));
}

}  // namespace sp::supervisor
