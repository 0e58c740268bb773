#include "commands/record/instrument_choice.h"

#include <memory>

#include "supervisor/instruments/exact/exact_counter.h"
#include "supervisor/instruments/probes/probe_counter.h"

namespace sp::record {

using supervisor::InstrumentParts;

supervisor::MakeInstrument choose_instrument(const cli::RecordOptions& options,
                                             supervisor::CodeAnalysis& analysis) {
  if (options.single != cli::Single::off) {
    const supervisor::ExactOptions exact{options.single == cli::Single::breakpoints};
    return [exact](const InstrumentParts& parts) {
      return std::make_unique<supervisor::ExactCounter>(exact, parts.outbox, parts.guardian);
    };
  }
  if (options.no_instrumentation) {
    return {};
  }
  const supervisor::ProbeOptions probes{
      &analysis,      options.overhead_percent,          options.allow_bottlenecking,
      options.derive, options.delay != core::Duration{}, !options.no_copies};
  return [probes](const InstrumentParts& parts) {
    return std::make_unique<supervisor::ProbeCounter>(probes, parts.outbox, parts.guardian,
                                                      parts.meter, parts.timer, parts.tracees);
  };
}

}  // namespace sp::record
