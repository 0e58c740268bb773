#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/result.h"
#include "profiler/recording/container_reader.h"
#include "profiler/recording/recording.h"
#include "profiler/recording/recording_rows.h"
#include "profiler/recording/texts.h"
#include "profiler/trace/trace_clock.h"
#include "profiler/trace/trace_file.h"

namespace sp::profiler {

/// Reads trace.sp: the tables at once, the events chunk by chunk. What is damaged ends what can be
/// read; nothing that a file says makes it take more memory than a run may need.
class TraceReader {
 public:
  /// A chunk of events.
  struct Place {
    std::size_t chunk = 0;  // of the container
    std::uint32_t thread = 0;
    std::uint64_t first = 0;
    std::uint64_t lost = 0;  // also if only the numbers show it
    std::uint64_t count = 0;
    std::uint64_t ticks = 0;  // of the first event that has a time; 0 if none has
  };

  /// `in` must outlive it; `name` is for messages. Errors: those of ContainerReader::open(), and if
  /// it is not a trace.
  [[nodiscard]] static core::Result<TraceReader> open(std::istream& in, const std::string& name);

  [[nodiscard]] const ContainerHeader& header() const { return container_.header(); }
  [[nodiscard]] std::uint64_t file_size() const { return container_.size(); }
  /// That of ContainerReader: it may grow with what is read.
  [[nodiscard]] const std::string& damage() const { return container_.damage(); }

  [[nodiscard]] const std::vector<RecordingProcess>& processes() const { return processes_; }
  /// By number; tid 0: there is no row.
  [[nodiscard]] const std::vector<RecordingThread>& threads() const { return threads_; }
  /// Null if there is no row with the number.
  [[nodiscard]] const RecordingThread* thread(std::uint32_t number) const;
  [[nodiscard]] const RecordingModule* module(std::uint32_t number) const;
  [[nodiscard]] const TraceFunction* function(std::uint32_t number) const;
  /// The numbers that have a row, in the order of their first rows.
  [[nodiscard]] const std::vector<std::uint32_t>& function_numbers() const { return numbers_; }
  [[nodiscard]] const TraceClock& clock() const { return clock_; }
  /// The last run.json; "" if there is none.
  [[nodiscard]] std::string facts();

  /// In the order of the file; those of one thread are in the order of its events.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  /// The events of one of places(); false if they cannot be read.
  [[nodiscard]] bool read(const Place& place, std::vector<core::TraceEvent>& events);

 private:
  explicit TraceReader(ContainerReader container)
      : container_(std::move(container)), clock_({}, 0) {}

  [[nodiscard]] bool is_trace() const;
  void load();
  void load_functions();
  void find_events();

  ContainerReader container_;
  TraceClock clock_;
  Texts texts_;
  std::unordered_map<std::uint32_t, RecordingModule> modules_;
  std::vector<RecordingProcess> processes_;
  std::vector<RecordingThread> threads_;
  std::vector<std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, TraceFunction> functions_;
  std::vector<Place> places_;
};

}  // namespace sp::profiler
