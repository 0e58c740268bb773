#include "commands/run_files/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "core/fd.h"

namespace sp::run_files {
namespace {

/// "": there is none.
std::string pager_command() {
  const char* const terminal = std::getenv("TERM");
  const bool is_plain = terminal == nullptr || std::string_view(terminal) == "dumb";
  if (is_plain || ::isatty(STDOUT_FILENO) != 1) {
    return "";
  }
  const char* const pager = std::getenv("PAGER");
  const std::string command =
      pager != nullptr ? pager : "command -v less >/dev/null || exit 127; exec less";
  return command == "cat" ? "" : command;
}

[[noreturn]] void become_pager(const std::string& command, int input) {
  ::dup2(input, STDIN_FILENO);
  // As git does: end if all fits on the screen, keep colours, leave the text there.
  ::setenv("LESS", "FRX", 0);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(127);
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;  // whoever reads has seen enough
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
}

/// False if there is no such pager, and nothing was shown.
bool page(const std::string& command, std::string_view text) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return false;
  }
  core::UniqueFd read_end(ends[0]);
  core::UniqueFd write_end(ends[1]);
  const pid_t pager = ::fork();
  if (pager == 0) {
    become_pager(command, read_end.get());
  }
  if (pager < 0) {
    return false;
  }
  read_end.reset();  // else a pager that ends early would leave us waiting for a reader
  // Ctrl-C is the pager's, as long as it has the terminal.
  const auto on_interrupt = ::signal(SIGINT, SIG_IGN);
  const auto on_broken_pipe = ::signal(SIGPIPE, SIG_IGN);
  write_all(write_end.get(), text);
  write_end.reset();
  int status = 0;
  while (::waitpid(pager, &status, 0) < 0 && errno == EINTR) {
  }
  ::signal(SIGINT, on_interrupt);
  ::signal(SIGPIPE, on_broken_pipe);
  constexpr int kNotExecutable = 126;
  return !WIFEXITED(status) || WEXITSTATUS(status) < kNotExecutable;
}

}  // namespace

bool show(const std::function<void(std::ostream&)>& writer) {
  const std::string command = pager_command();
  if (command.empty()) {
    writer(std::cout);
    return static_cast<bool>(std::cout.flush());
  }
  std::ostringstream text;
  writer(text);
  return page(command, text.str()) || static_cast<bool>((std::cout << text.str()).flush());
}

}  // namespace sp::run_files
