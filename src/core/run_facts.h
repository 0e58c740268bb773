#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"

namespace sp::core {

/// What our being there cost the target, measured while it ran.
struct Cost {
  std::uint64_t stops = 0;
  /// False where the target is stopped all the time (--single): of all below nothing is known then.
  bool is_share_known = true;
  Duration stopped{};  // sum over all threads
  Duration longest_stop{};
  Duration target_cpu{};        // on-CPU time of the target while it was watched
  double overhead_percent = 0;  // stopped / target_cpu, in percent
  /// It is more than that: where probes take most of the time, what a thread needs for the way to
  /// them and back looks like time of its own.
  bool is_share_minimum = false;
  double budget_percent = 0;  // what --overhead allowed; 0 = no limit
  Duration requested_interval{};
  Duration mean_interval{};  // between the ticks that were really made
};

/// What the supervisor could not do.
struct SupervisorLosses {
  std::uint64_t ticks_while_stop_in_flight = 0;
  std::uint64_t samples_dropped = 0;      // a channel was full
  std::uint64_t blocked_before_stop = 0;  // fell asleep between the look and the stop
  std::uint64_t waited_for_cpu = 0;       // ready to run, but others had the CPU
};

/// What probes beside sampling did (default mode).
struct Probing {
  std::uint64_t functions = 0;  // mapped and given probes
  std::uint64_t planted = 0;    // probes
  std::uint64_t derived = 0;    // blocks without one, because their counts follow from others
  std::uint64_t removed = 0;    // of them, taken away because they were hot
  std::uint64_t hits = 0;
  std::uint64_t windows = 0;  // of single steps
  std::uint64_t steps = 0;
  Duration cost{};  // of hits, maps and steps; in Cost::stopped too
};

/// How the run ended for the user.
enum class RunEnd : std::uint8_t { target_exited, target_killed, detached };

/// Everything about a run that is known without looking at a sample; for run.json and the summary.
struct RunFacts {
  std::string name;
  std::vector<std::string> command;  // launched: argv; attached: the target's command line
  bool launched = true;
  int pid = 0;
  std::vector<std::string> options;  // our own argv
  std::chrono::system_clock::time_point started_at;
  Duration elapsed{};
  RunEnd end = RunEnd::detached;
  std::optional<int> exit_status;  // with target_exited
  std::optional<int> exit_signal;  // with target_killed
  std::string host_arch;           // "x86_64", "aarch64"
  std::uint64_t processes = 0;
  std::uint64_t threads = 0;
  std::vector<std::string> notes;  // what a reader of the numbers must know
  Cost cost;
  SupervisorLosses losses;
  std::optional<Probing> probing;  // nothing with -n and in exact mode
};

}  // namespace sp::core
