#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/cli.h"

/// superprofiler doctor: what this machine allows, and the fix for what it does not.
namespace sp::doctor {

/// ok: works. warn: works, but less well or not for everything. fail: profiling does not work.
enum class Level : std::uint8_t { ok, warn, fail };

struct Finding {
  Level level = Level::ok;
  std::string subject;  // one or two words
  std::string fact;
  std::string fix;  // "" where there is nothing to mend
};

/// One aligned line for each finding, with its fix in the line below, and the verdict at the end.
[[nodiscard]] std::string render(std::span<const Finding> findings, bool color);

/// Looks, prints on stdout and returns the exit status: 0 where profiling can work, 1 where not.
[[nodiscard]] int run(const cli::DoctorOptions& options);

}  // namespace sp::doctor
