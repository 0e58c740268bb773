#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sp::core {

/// What is asked of a trace while it runs.
enum class TraceAction : std::uint8_t {
  on,       // put its breakpoints into the program
  off,      // take all of them away
  flush,    // write what is kept or held
  clear,    // forget what was recorded so far
  stop,     // end the run as --duration does
  patch,    // put the breakpoints of some functions into the program
  unpatch,  // take them away
  gave_up,  // not asked for: nothing of a process is traced any more
};

/// Supervisor to profiler, through the analyzer: what the supervisor has done of an action, so that
/// the profiler does its part behind the events that came before.
struct TraceRequest {
  TraceAction action = TraceAction::flush;
  std::uint64_t ticket = 0;                // of who asked; 0: nobody waits
  std::vector<std::uint64_t> functions{};  // patch, unpatch: their symbols::function_id()
  std::string reason{};                    // on, off, gave_up; "": a client has asked for it
  int pid = 0;                             // gave_up: of which process
};

}  // namespace sp::core
