#include "commands/record/instrument_choice.h"

#include <memory>

#include "arch/native.h"
#include "commands/record/stage_options.h"
#include "supervisor/instruments/exact/exact_counter.h"
#include "supervisor/instruments/probes/probe_counter.h"

namespace sp::record {

using supervisor::InstrumentParts;

supervisor::MakeInstrument choose_instrument(const cli::RecordOptions& options,
                                             supervisor::CodeAnalysis& analysis) {
  if (options.single != cli::Single::off) {
    const supervisor::ExactOptions exact{options.single == cli::Single::breakpoints,
                                         options.toggle_collect.empty() ? nullptr : &analysis,
                                         !options.launches_target()};
    return [exact](const InstrumentParts& parts) {
      return std::make_unique<supervisor::ExactCounter>(exact, parts.outbox, parts.guardian);
    };
  }
  if (options.no_instrumentation) {
    return {};
  }
  supervisor::ProbeOptions probes{&analysis,
                                  options.overhead_percent,
                                  options.allow_bottlenecking,
                                  options.derive,
                                  options.delay != core::Duration{},
                                  makes_copies(options),
                                  options.places.in_copies == core::TracedInCopies::all,
                                  options.coverage};
  if (options.coverage != core::Coverage::off) {
    // A probe is there once, so that none is hot; what is reached first is to be seen, too.
    probes.overhead_percent = 0;
    probes.keep_hot_probes = true;
    probes.derives = false;
    probes.copies = false;
  }
  if (options.trace) {
    probes.trace = supervisor::TraceLimits{options.trace->when_full, options.trace->buffer,
                                           options.trace->min_duration, options.trace->max_depth};
    probes.trace->waits = options.trace->waits_when_full || options.allow_bottlenecking;
  } else if (options.tree) {
    probes.trace = supervisor::TraceLimits{.has_sites = true, .waits = true};
  }
  if (probes.trace) {
    probes.begins_off = options.control.begins_off;
    probes.triggers = options.control.triggers;
    if (options.learn) {
      probes.learn_for = options.learn->time;
    }
    probes.derives = false;
    // An event that a copy writes has the ticks of the CPU's counter.
    probes.copies = probes.copies && arch::are_native_ticks_steady();
  }
  if (options.calls) {
    probes.calls = options.calls;
    probes.copies = probes.copies && options.calls->is_plain();
  }
  return [probes](const InstrumentParts& parts) {
    return std::make_unique<supervisor::ProbeCounter>(probes, parts.outbox, parts.guardian,
                                                      parts.meter, parts.timer, parts.tracees,
                                                      parts.trace_requests);
  };
}

}  // namespace sp::record
