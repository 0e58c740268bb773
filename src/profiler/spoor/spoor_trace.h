#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/result.h"
#include "profiler/recording/container_writer.h"
#include "profiler/spoor/spoor_file.h"
#include "profiler/spoor/spoor_symbols.h"

namespace sp::profiler {

/// What was joined.
struct SpoorSums {
  std::uint64_t run_id = 0;  // of the first run
  std::uint64_t runs = 0;
  std::uint64_t threads = 0;
  std::uint64_t files = 0;
  std::uint64_t functions = 0;
  std::uint64_t without_name = 0;  // functions that the symbols do not have
  std::vector<std::string> damage{};
};

using SpoorReader = std::function<core::Result<SpoorFile>(const std::string& path)>;

/// Writes Spoor's files as one trace.sp: a process for each run, in it a thread for each of
/// Spoor's, whose files are joined in the order of their times. Reads each file twice and holds one
/// at a time. Calls are closed by order: an exit closes the calls in its function's innermost one,
/// and if that was never entered, all. Errors: of the first file, if none can be read; of `sink`;
/// there are more threads or functions than a trace may have.
[[nodiscard]] core::Result<SpoorSums> write_spoor_trace(ByteSink& sink,
                                                        const std::vector<std::string>& paths,
                                                        const SpoorReader& read,
                                                        const SpoorSymbols& symbols);

}  // namespace sp::profiler
