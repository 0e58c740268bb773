#include "cli/read.h"

namespace sp::cli {

core::Result<DumpOptions> read_dump(const Arguments& given) {
  if (given.after_dashes()) {
    return core::fail("dump takes no command; it takes a process: superprofiler dump -p PID");
  }
  auto pids = read_pids(given);
  if (!pids) {
    return tl::unexpected(pids.error());
  }
  if (pids->empty()) {
    return core::fail("dump needs a process: superprofiler dump -p PID");
  }
  return DumpOptions{*std::move(pids), given.has("json"), given.all("debug-dir")};
}

}  // namespace sp::cli
