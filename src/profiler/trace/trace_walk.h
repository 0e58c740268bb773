#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "profiler/trace/open_frames.h"
#include "profiler/trace/shown_calls.h"
#include "profiler/trace/trace_reader.h"

namespace sp::profiler {

/// Makes calls of the events of a trace, as a view wants them. Takes memory for the open frames,
/// for the frames that were open before the trace, and for one chunk of each thread that runs.
class TraceWalk {
 public:
  /// Reads the events once, for the frames that were open before. `reader` must outlive it.
  TraceWalk(TraceReader& reader, const TraceView& view);
  TraceWalk(const TraceWalk&) = delete;
  TraceWalk& operator=(const TraceWalk&) = delete;
  ~TraceWalk() = default;

  /// The calls of all threads: their beginnings and ends are in the order of their ticks.
  void run(CallVisitor& to);
  /// Those of one stack of a thread.
  void run_track(std::uint32_t thread, std::uint32_t stack, CallVisitor& to);

  /// Each stack of a thread that has calls: thread and stack.
  [[nodiscard]] const std::set<std::pair<std::uint32_t, std::uint32_t>>& tracks() const {
    return tracks_;
  }
  /// Of all events, whatever the view.
  [[nodiscard]] const OpenFrames::Skipped& skipped() const { return skipped_; }
  /// Begins and ends of the last run(), or of run_track() since the last run().
  [[nodiscard]] std::uint64_t passed_on() const { return passed_on_; }
  /// Of the program's own events, likewise.
  [[nodiscard]] std::uint64_t notes() const { return notes_; }
  /// After run(): calls were left out because of the limit.
  [[nodiscard]] bool is_cut() const { return cut_ticks_.has_value(); }

 private:
  /// Where the walk is in the events of a thread.
  struct Cursor {
    std::vector<std::size_t> places;  // of the reader
    std::size_t next_place = 0;
    std::vector<core::TraceEvent> events;
    std::size_t at = 0;  // in events
    OpenFrames frames;
  };

  [[nodiscard]] OpenFrames::Rules rules() const;
  void look_for_frames_before();
  void walk(CallVisitor& visitor, const ShownCalls& shown, std::optional<std::uint32_t> only);
  [[nodiscard]] bool load(Cursor& cursor);
  void feed(Cursor& cursor, std::uint64_t until_ticks, const ShownCalls& shown);
  [[nodiscard]] std::uint64_t next_ticks(const Cursor& cursor, std::uint64_t last) const;
  [[nodiscard]] bool is_beyond(const OpenFrames& frames) const;

  TraceReader& reader_;
  const TraceView view_;
  OpenFrames::Sources sources_;
  std::map<std::uint32_t, std::vector<FrameBefore>> before_;  // by thread
  std::map<std::uint32_t, ShortCalls> short_calls_;           // likewise
  std::set<std::pair<std::uint32_t, std::uint32_t>> tracks_;
  OpenFrames::Skipped skipped_;
  std::uint64_t last_ticks_ = 0;
  std::uint64_t passed_on_ = 0;
  std::uint64_t notes_ = 0;
  std::optional<std::uint64_t> cut_ticks_{};
};

}  // namespace sp::profiler
