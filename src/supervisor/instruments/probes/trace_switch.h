#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/trace_request.h"
#include "supervisor/channels/trace_requests.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/module_probes.h"
#include "supervisor/instruments/probes/probe_maintenance.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Switches --trace off and on while the program runs. While it is off every byte of the program
/// is its file's: gates are gone, too, so that SIGTRAP is the program's again. If calls of some
/// functions are to switch it on (--trigger F@on), those keep their places, and gates stay. Runs
/// on the ptrace thread, but for times_off().
class TraceSwitch {
 public:
  struct Parts {
    FunctionTrace& trace;
    ModuleProbes& modules;
    ProbeMaintenance& maintenance;
    TraceeTable& tracees;
    TraceRequests& requests;
  };
  TraceSwitch(const Parts& parts, bool begins_off)
      : parts_(parts), is_on_(!begins_off), times_off_(begins_off ? 1 : 0) {
    parts_.requests.note_state(is_on_, 0, 0);
  }

  /// What a new address space has.
  [[nodiscard]] TraceState new_state() const;
  /// Before anything is inserted.
  void begin(ProbedCode& code) const;
  void serve(const core::TraceRequest& request) { serve(request, nullptr); }
  /// A call is to switch it on or off. `hit`: FunctionTrace::on_switch().
  void on_trigger(core::TraceAction action, const Tracee* hit);
  /// Removes every breakpoint, and sees to it that threads have their own masks. Inserts none from
  /// then on. No stop is being handled. `at_end`: the threads are to be detached.
  void remove_all(const TracedProcess& process, bool at_end);
  /// The thread is in a stop in which it can make calls for us: switches its process on if that
  /// waits for one.
  void on_stop(Tracee& tracee);

  /// Any thread.
  [[nodiscard]] std::uint64_t times_off() const { return times_off_; }

 private:
  /// One process of each address space.
  [[nodiscard]] std::vector<std::shared_ptr<TracedProcess>> processes() const;
  void serve(const core::TraceRequest& request, const Tracee* hit);
  static void patch(ProbedCode& code, const core::TraceRequest& request);
  void switch_off(const TracedProcess& process);
  void switch_on(TracedProcess& process, const Tracee* hit);
  void put_all_places(ProbedCode& code);
  void tell_state();
  /// While it is off some functions have places.
  [[nodiscard]] bool stands_by() const { return parts_.trace.triggers().that_switch_on() != 0; }

  Parts parts_;
  bool is_on_;
  std::atomic<std::uint64_t> times_off_;
};

}  // namespace sp::supervisor
