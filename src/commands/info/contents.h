#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::info {

/// What a trace holds.
struct TraceContents {
  std::string path;
  std::uint64_t bytes = 0;
  bool finished = false;
  std::uint64_t events = 0;
  std::uint64_t lost = 0;
  std::uint64_t functions = 0;  // that have events
  std::uint64_t threads = 0;    // likewise
  std::string damage{};
};

/// What a recording holds.
struct Contents {
  struct Thread {
    profiler::RecordingThread thread;
    std::uint64_t samples = 0;
  };

  std::string path;
  std::uint64_t bytes = 0;
  profiler::ContainerHeader header;
  std::optional<profiler::RecordedRun> run{};  // nothing if run.json is not there
  bool has_names = false;
  profiler::RecordingSamples kept{};
  std::uint64_t samples = 0;  // of all stacks
  std::uint64_t stacks = 0;   // distinct ones, by address
  std::uint64_t places = 0;
  std::uint64_t functions = 0;
  std::uint64_t blocks = 0;
  std::uint64_t edges = 0;
  std::vector<Thread> threads{};  // most samples first
  std::vector<profiler::RecordingProcess> processes{};
  std::vector<profiler::RecordingModule> modules{};
  std::optional<TraceContents> trace{};  // of trace.sp beside it, if there is one
};

/// `reader` must outlive the result.
[[nodiscard]] Contents contents_of(profiler::RecordingReader& reader, const std::string& path);

/// Nothing if the run has no trace, or it cannot be opened.
[[nodiscard]] std::optional<TraceContents> trace_of(const std::string& run);

/// For people: a line for each kind of content, then the threads and the modules.
void write_text(std::ostream& out, const Contents& contents);
void write_json(std::ostream& out, const Contents& contents);

}  // namespace sp::info
