#include "cli/read.h"

namespace sp::cli {

core::Result<DumpOptions> read_dump(const Arguments& given) {
  if (given.after_dashes()) {
    return core::fail("dump takes no command; it takes a process: superprofiler dump -p PID");
  }
  const auto pid = read_pid(given);
  if (!pid) {
    return tl::unexpected(pid.error());
  }
  if (!*pid) {
    return core::fail("dump needs a process: superprofiler dump -p PID");
  }
  return DumpOptions{**pid, given.has("json"), given.all("debug-dir")};
}

}  // namespace sp::cli
