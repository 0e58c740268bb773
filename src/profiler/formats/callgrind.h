#pragma once

#include <cstdint>
#include <iosfwd>

#include "profiler/recorded_run.h"

namespace sp::profiler {

/// `lines`: without addresses and jumps, which speedscope does not know.
enum class CallgrindPositions : std::uint8_t { addresses, lines };

/// The format of valgrind's callgrind: https://valgrind.org/docs/manual/cl-format.html. `Ir` are
/// the executed instructions of blocks, at each block's first instruction; `Samples` are samples.
/// `code` is null if nothing was counted. Reads the stacks once.
void write_callgrind(std::ostream& out, const RecordedRun& run, StackSource& stacks,
                     const RecordedCode* code,
                     CallgrindPositions positions = CallgrindPositions::addresses);

}  // namespace sp::profiler
