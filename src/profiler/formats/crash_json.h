#pragma once

#include <iosfwd>
#include <string>

#include "core/clock.h"
#include "profiler/crash/named_crash.h"

namespace sp::profiler {

/// What crash.json says beside the crash.
struct CrashReport {
  const NamedCrash& crash;
  std::string version;  // of superprofiler
  std::string host_arch;
  core::TimePoint started{};  // of the run
};

/// crash.json; output/README.md describes it. Addresses are strings, "0x7f00": they may exceed
/// 2^53.
void write_crash_json(std::ostream& out, const CrashReport& report);

}  // namespace sp::profiler
