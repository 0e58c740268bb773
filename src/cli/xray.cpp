#include <fmt/format.h>

#include "cli/read.h"

namespace sp::cli {

using core::fail;

core::Result<XrayOptions> read_xray(const Arguments& given) {
  constexpr std::string_view kUsage = "superprofiler xray BIN, or superprofiler xray -p PID";
  const auto pid = read_pid(given);
  if (!pid) {
    return tl::unexpected(pid.error());
  }
  std::vector<std::string> files = given.words();
  if (const auto& after = given.after_dashes()) {
    files.insert(files.end(), after->begin(), after->end());
  }
  if (files.size() > 1) {
    return fail(fmt::format("xray takes one file, {} are given: {}", files.size(), kUsage));
  }
  if (files.empty() && !*pid) {
    return fail(fmt::format("xray needs a file or a process: {}", kUsage));
  }
  if (!files.empty() && *pid) {
    return fail(fmt::format("xray: a file and -p are both given; keep one: {}", kUsage));
  }
  if (!files.empty() && files.front().empty()) {
    return fail(fmt::format("xray: the name of the file is empty; write {}", kUsage));
  }
  return XrayOptions{files.empty() ? "" : files.front(),
                     *pid,
                     given.has("yaml"),
                     given.all("debug-dir"),
                     given.all("filters"),
                     given.all("attr-list")};
}

}  // namespace sp::cli
