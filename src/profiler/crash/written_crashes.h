#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sp::profiler {

/// The processes of a run that died of a signal with a core dump.
struct WrittenCrashes {
  struct Crash {
    int pid = 0;
    std::string signal;    // "SIGSEGV (SEGV_MAPERR) at 0x0"
    std::string function;  // in which the thread was that got it; "" if that is not known
    std::string source;    // file:line; "" if unknown
    int tid = 0;
    std::string thread;  // its name
    std::string file;    // "crash.json"; "" if it could not be written
  };
  std::vector<Crash> first{};  // in the order of their times, not all
  std::uint64_t all = 0;
};

/// Paragraphs for the summary, of the first crashes.
[[nodiscard]] std::vector<std::string> crash_texts(const WrittenCrashes& crashes);

}  // namespace sp::profiler
