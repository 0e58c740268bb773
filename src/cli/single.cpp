#include <fmt/format.h>

#include "cli/read.h"

namespace sp::cli {

using core::fail;
using core::Result;

Result<void> read_single(const Arguments& given, RecordOptions& options) {
  const auto value = given.last("single");
  if (!value) {
    return {};
  }
  const bool plain = *value == Arguments::kPlain;
  if (auto known = plain ? Result<void>{} : check_choice("single", *value); !known) {
    return known;
  }
  if (given.has("no-instrumentation")) {
    return fail("-n only samples and -s only counts; keep one of them");
  }
  options.counts_everything = *value == "copies";
  if (options.counts_everything) {
    for (const char* other : {"only-funcs", "only-instrument-execs", "no-copies", "derive"}) {
      if (given.has(other)) {
        return fail(
            fmt::format("--single=copies counts all code, hot code in copies: leave out --{}, or "
                        "give -a instead of --single=copies",
                        other));
      }
    }
    return {};
  }
  options.single = plain ? Single::breakpoints : Single::step;
  for (const char* of_samples : {"delay", "wall", "flame"}) {
    if (given.has(of_samples)) {
      options.notes.push_back(fmt::format(
          "--{}: no effect with -s, which counts from the start and takes no samples", of_samples));
    }
  }
  options.wall = false;
  options.delay = {};
  return {};
}

}  // namespace sp::cli
