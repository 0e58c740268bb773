#pragma once

#include "cli/cli.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/instrument.h"

namespace sp::record {

/// How to build the instrument that the options ask for; empty where they ask for samples only. The
/// one place that knows which instruments there are. `analysis` must outlive the instrument.
[[nodiscard]] supervisor::MakeInstrument choose_instrument(const cli::RecordOptions& options,
                                                           supervisor::CodeAnalysis& analysis);

}  // namespace sp::record
