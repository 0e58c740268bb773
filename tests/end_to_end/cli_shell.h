#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace sp::end_to_end {

struct ShellOutcome {
  std::string output;
  int status = -1;  // the shell's $?
};

/// Runs `script` with /bin/sh and the program's path in $SP.
inline ShellOutcome shell(const std::string& script) {
  ::setenv("SP", SP_PROGRAM, 1);
  ShellOutcome outcome;
  std::FILE* pipe = ::popen(script.c_str(), "r");
  if (pipe == nullptr) {
    return outcome;
  }
  std::array<char, 4096> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    outcome.output.append(buffer.data(), got);
  }
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

inline bool has_program(const std::string& name) {
  return shell("command -v " + name + " >/dev/null").status == 0;
}

}  // namespace sp::end_to_end
