#pragma once

#include <sys/resource.h>

#include "core/result.h"

// How many files superprofiler may have open (RLIMIT_NOFILE). A process that is followed needs one
// or two, a sampled thread one, if there is room. The kernel gives the lowest number that is free
// to a new descriptor, so that its number tells how many there are.
namespace sp::supervisor {

/// Raises the limit as far as it goes. Fails where that is not enough for any run.
[[nodiscard]] core::Result<void> raise_open_files_limit();
/// What the limit was before, or nullptr if it was not raised. Async-signal-safe.
[[nodiscard]] const rlimit* open_files_limit_before();

/// The descriptor may be kept for a later use that could open the file again: the upper half of the
/// numbers is for what cannot.
[[nodiscard]] bool may_keep_open(int fd);
/// Only those descriptors are left that are opened for a moment: nothing new may begin that needs
/// one all the time.
[[nodiscard]] bool are_open_files_scarce();

}  // namespace sp::supervisor
