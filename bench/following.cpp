// The floor of following a program's processes: seizes a program and everything that it forks, lets
// each stop go on at once and does nothing else. Arguments: the program and its words; before them
// --no-forks, to trace the program alone. Exits as it does; with FOLLOWING_STOPS set it prints how
// many stops there were.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

void* as_pointer(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

/// The signal that a stop is to be resumed with; -1 for a group-stop.
int signal_of(int status) {
  const auto event = static_cast<unsigned>(status) >> 16U;
  const int signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_STOP) {
    return signal == SIGTRAP ? 0 : -1;
  }
  return event != 0 ? 0 : signal;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::uintptr_t kForks = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
  constexpr std::uintptr_t kOthers = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
  std::uintptr_t options = kForks | kOthers;
  if (argc > 1 && std::string_view(argv[1]) == "--no-forks") {
    options = kOthers;
    --argc;
    ++argv;
  }
  if (argc < 2) {
    (void)std::fputs("which program?\n", stderr);
    return 2;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGSTOP);
    ::execvp(argv[1], argv + 1);
    ::_exit(127);
  }
  int status = 0;
  (void)::waitpid(child, &status, WUNTRACED);
  if (::ptrace(PTRACE_SEIZE, child, nullptr, as_pointer(options)) != 0) {
    std::perror("seizing");
    return 1;
  }
  ::kill(child, SIGCONT);
  long stops = 0;
  int exit_status = 1;
  for (pid_t tid = 0; (tid = ::waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (tid == child) {
        exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      continue;
    }
    ++stops;
    const int signal = signal_of(status);
    (void)::ptrace(signal < 0 ? PTRACE_LISTEN : PTRACE_CONT, tid, nullptr,
                   as_pointer(signal < 0 ? 0 : static_cast<std::uintptr_t>(signal)));
  }
  if (std::getenv("FOLLOWING_STOPS") != nullptr) {
    (void)std::fprintf(stderr, "%ld stops\n", stops);
  }
  return exit_status;
}
