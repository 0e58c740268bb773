#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/function_trace.h"

namespace sp::core {

/// What tracing cost the target, measured while it ran.
struct Cost {
  std::uint64_t stops = 0;
  /// False if the target is stopped all the time (--single): nothing below is known then.
  bool is_share_known = true;
  Duration stopped{};   // sum over all threads
  Duration counting{};  // what code took longer because it ran from copies; estimated
  Duration longest_stop{};
  Duration target_cpu{};  // on-CPU time of the target while it was watched
  /// Stopped and counting, relative to what target_cpu would be without us.
  double overhead_percent = 0;
  /// The true share is larger: if probes take most of the time, the kernel's work for a probe's
  /// trap is accounted as the thread's own time.
  bool is_share_minimum = false;
  double budget_percent = 0;  // what --overhead allowed; 0 = no limit
  Duration requested_interval{};
  Duration mean_interval{};  // between actual ticks
};

/// What the supervisor could not do.
struct SupervisorLosses {
  std::uint64_t ticks_while_stop_in_flight = 0;
  std::uint64_t samples_dropped = 0;      // a channel was full
  std::uint64_t blocked_before_stop = 0;  // blocked between the scan and the stop
  std::uint64_t waited_for_cpu = 0;       // runnable, but others had the CPU
  std::uint64_t unfollowed_processes =
      0;  // they would have needed more open files than we may have
};

/// What default mode's copies of functions did.
struct Copying {
  std::uint64_t functions = 0;   // ran from copies
  std::uint64_t dropped = 0;     // and ceased to, because that cost more than was allowed
  std::uint64_t executions = 0;  // of blocks, counted by them
  std::uint64_t branches = 0;    // with a counter of their own
  std::uint64_t arrivals = 0;    // of blocks, from the original by a jump
  std::uint64_t transfers = 0;  // indirect calls and jumps and returns whose destination they noted
  struct Refused {
    std::string reason;
    std::uint64_t functions = 0;
  };
  std::vector<Refused> refused;
};

/// What default mode's probes did.
struct Probing {
  std::uint64_t functions = 0;  // analyzed and instrumented
  std::uint64_t planted = 0;    // probes inserted
  std::uint64_t derived = 0;    // blocks without a probe, whose counts follow from others
  std::uint64_t removed = 0;    // probes removed because they were hot
  std::uint64_t hits = 0;
  std::uint64_t uncounted_programs = 0;  // followed, but ended before they were given probes
  std::uint64_t windows = 0;             // of single steps
  std::uint64_t steps = 0;
  Duration cost{};  // of hits, analyses and steps; Cost::stopped includes it
  Copying copying;
};

/// What --trace was told to keep.
struct TraceChoice {
  WhenFull when_full = WhenFull::flush;
  Duration min_duration{};      // shorter calls are left out
  std::uint32_t max_depth = 0;  // deeper ones are; 0: any
};

/// What --trace recorded.
struct Tracing {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;         // found no room
  std::uint64_t too_hot = 0;      // functions of which it ceased to, because of --overhead
  std::uint64_t learned = 0;      // the same, because of --learn
  std::uint64_t overwritten = 0;  // the same, because the program has overwritten its places
  std::uint64_t cleared = 0;      // events that were forgotten on request
  std::uint64_t times_off = 0;    // how often it was switched off, or began so
  bool is_full = false;           // --trace-size is reached: later events are lost
  TraceChoice choice{};
};

/// How the run ended for the user.
enum class RunEnd : std::uint8_t {
  target_exited,
  target_killed,
  detached,
  split,  // --split: the next part goes on
};

/// Everything about a run but its samples and counts; for run.json and the summary.
struct RunFacts {
  std::string name;
  std::vector<std::string> command;  // launched: argv; attached: the target's command line
  bool launched = true;
  int pid = 0;
  std::vector<std::string> options;  // superprofiler's own argv
  std::chrono::system_clock::time_point started_at;
  Duration elapsed{};
  std::uint32_t part = 0;  // --split: of the run, from 1 on
  RunEnd end = RunEnd::detached;
  std::optional<int> exit_status;  // with target_exited
  std::optional<int> exit_signal;  // with target_killed
  std::string host_arch;           // "x86_64", "aarch64"
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::vector<std::string> notes;  // for the reader of the numbers
  Cost cost;
  SupervisorLosses losses;
  std::optional<Probing> probing;  // in default mode only
  std::optional<Tracing> trace;    // with --trace only
};

}  // namespace sp::core
