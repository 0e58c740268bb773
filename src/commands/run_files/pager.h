#pragma once

#include <functional>
#include <iosfwd>

namespace sp::run_files {

/// Writes text to stdout; on a terminal through the pager: $PAGER, a shell's command, or less if
/// there is one and the text is longer than the screen. Empty or "cat": none. Returns when the
/// pager has ended. False if stdout cannot be written.
[[nodiscard]] bool show(const std::function<void(std::ostream&)>& writer);

}  // namespace sp::run_files
