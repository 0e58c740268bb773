#pragma once

#include <sys/types.h>

#include "core/clock.h"
#include "supervisor/roots.h"

namespace sp::supervisor {

/// Where the run stands, for all parts of the supervisor. The ptrace thread's alone.
struct RunState {
  pid_t root = 0;               // the target's process; the first one of several
  Roots roots;                  // all of them
  bool launched = false;        // the target is our child
  bool over = false;            // nothing is left to wait for, or the target is to be let go
  bool releasing = false;       // breakpoints are gone, threads are detached at their next stop
  core::TimePoint reported_at;  // when the report that is being served was heard of
};

}  // namespace sp::supervisor
