#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/recorded_run.h"
#include "profiler/recording/place_names.h"
#include "profiler/recording/recording_reader.h"

namespace sp::profiler {

/// Turns the samples of a recording into slices: what a thread had on its stack from one sample to
/// the next one of that thread. A thread without a sample for `hold` is taken to have slept after
/// that time, so its slices end there.
class Slices {
 public:
  /// A function begins or ends at a depth (0 is the outermost), or ends there.
  struct Event {
    std::int64_t time_ns = 0;
    std::uint32_t thread = 0;
    std::uint32_t function = 0;  // of PlaceNames
    bool begins = false;
  };
  using Visit = std::function<void(const Event&)>;

  /// At least this long, and ten times the mean interval.
  static constexpr std::int64_t kLeastHold = 1'000'000;

  Slices(RecordingReader& recording, const PlaceNames& names, std::int64_t hold_ns)
      : recording_(recording), names_(names), hold_ns_(hold_ns) {}

  /// The events of a thread are in the order of their times, and nested; those of different
  /// threads may be in any order.
  void for_each(const Visit& visit);

 private:
  struct Thread {
    std::int64_t last_ns = 0;
    std::vector<std::uint32_t> open;  // functions, outermost first
  };

  void take(const RecordingSample& sample, const Visit& visit);
  static void close(std::uint32_t number, Thread& thread, std::size_t depth, std::int64_t at,
                    const Visit& visit);

  RecordingReader& recording_;
  const PlaceNames& names_;
  const std::int64_t hold_ns_;
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> stack_;
};

/// How long a sample holds without another one.
[[nodiscard]] std::int64_t hold_of(const RecordedRun& run, const RecordingSamples& samples);

}  // namespace sp::profiler
