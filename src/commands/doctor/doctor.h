#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/cli.h"

/// superprofiler doctor: checks what this machine allows, with a fix for each problem.
namespace sp::doctor {

/// ok: works. warn: works with limits. fail: profiling does not work.
enum class Level : std::uint8_t { ok, warn, fail };

struct Finding {
  Level level = Level::ok;
  std::string subject;  // one or two words
  std::string fact;
  std::string fix;  // "" if there is nothing to fix
};

/// One aligned line for each finding, its fix on the next line, and the verdict at the end.
[[nodiscard]] std::string render(std::span<const Finding> findings, bool color);

/// Checks, prints to stdout and returns the exit status: 0 if profiling works, else 1.
[[nodiscard]] int run(const cli::DoctorOptions& options);

}  // namespace sp::doctor
