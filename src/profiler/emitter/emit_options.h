#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/result.h"

namespace sp::profiler {

/// So many bytes in so much time.
struct EmitLimit {
  std::uint64_t bytes = 0;
  core::Duration per{};
};

/// --emit: to whom, how often and what.
struct EmitOptions {
  std::string path{};  // of a listening stream socket; "": `fd`
  int fd = -1;         // a connected one
  core::Duration every = std::chrono::seconds(1);
  bool has_names = true;
  std::optional<EmitLimit> limit{};
  std::vector<std::string> labels{};  // "KEY=VALUE"
};

/// Looks at the socket before anything is done to a target; makes `fd` ours alone. Returns a note,
/// or "" if a reader seems to be there. Errors with code 0 are the user's: there is something else
/// than a socket.
[[nodiscard]] core::Result<std::string> check_reader(const EmitOptions& options);

}  // namespace sp::profiler
