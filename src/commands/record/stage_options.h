#pragma once

#include <optional>

#include "analyzer/analyzer.h"
#include "cli/cli.h"
#include "profiler/profiler.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/supervisor.h"

/// What each stage needs to know of the command line.
namespace sp::record {

/// `analysis` must outlive the supervisor.
[[nodiscard]] supervisor::SupervisorOptions supervisor_options(const cli::RecordOptions& options,
                                                               supervisor::CodeAnalysis& analysis);

/// Nothing if no code gets probes.
[[nodiscard]] std::optional<analyzer::InstrumentationPolicy> instrumentation_policy(
    const cli::RecordOptions& options);

/// Hot functions are to run from copies. Where all threads count in the same words (AArch64), what
/// an atomic count costs is not known, so that no budget could be kept: only who wants everything
/// counted gets copies.
[[nodiscard]] bool makes_copies(const cli::RecordOptions& options);

/// Functions may run from copies: what leads into them is to be known.
[[nodiscard]] bool finds_references(const cli::RecordOptions& options);

/// --emit: looks for the reader, before anything is done to a target. Reports what it finds. The
/// status of a failure; 0: there is none.
[[nodiscard]] int check_reader(const cli::RecordOptions& options);

/// Adds what --trace was told to what it has recorded.
void add_choice(const cli::RecordOptions& options, core::RunFacts& facts);

/// Only what follows from the command line.
[[nodiscard]] profiler::ProfilerOptions profiler_options(const cli::RecordOptions& options);

}  // namespace sp::record
