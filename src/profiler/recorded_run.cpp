#include "profiler/recorded_run.h"

#include <fmt/format.h>

#include "profiler/text.h"

namespace sp::profiler {

std::string RecordedRun::sampling() const {
  if (samples == 0) {
    return "not sampled";
  }
  return fmt::format("sampled, {}, {} samples", wall ? "wall clock" : "on-CPU", grouped(samples));
}

std::uint64_t RecordedRun::ns_per_sample() const {
  return wall || samples == 0 ? 0 : cpu_ns / samples;
}

}  // namespace sp::profiler
