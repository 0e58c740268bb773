#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string_view>

#include "core/clock.h"
#include "core/messages.h"
#include "core/result.h"
#include "core/run_facts.h"
#include "profiler/formats/run_json.h"
#include "profiler/profile.h"
#include "profiler/recording/recording_writer.h"
#include "profiler/run_directory.h"

namespace sp::profiler {

/// Keeps recording.sp of a run: makes it at the first sample, or at the run's end, and writes what
/// is new about once a second. Where it cannot be written, that is said once, and nothing but the
/// times and threads of further samples is lost: names, sums and counts are tried again at the end.
/// On the profiler thread.
class Recorder {
 public:
  static constexpr std::string_view kFile = "recording.sp";
  static constexpr core::Duration kInterval = std::chrono::seconds(1);

  /// What is known of a run.
  struct State {
    core::RunFacts facts;
    SetContent content;
  };

  /// `directory` must outlive it. `at_first_sample` is called when the file is made; its content
  /// has no names yet.
  Recorder(RunDirectory& directory, core::TimePoint started,
           std::function<State()> at_first_sample);

  void add(const core::SampleTaken& sample, Profile::Placed placed, const Profile& profile);
  void module_changed(std::size_t number);
  void thread_changed(std::uint32_t number);
  /// Writes what is new if that is due.
  void tick(const Profile& profile, core::TimePoint now);
  /// Writes a set of names and facts, and with `last` says that nothing is missing.
  [[nodiscard]] core::Result<WrittenFile> write_set(const Profile& profile, const State& state,
                                                    bool last);
  /// How large the file is.
  [[nodiscard]] std::uint64_t bytes() const { return file_ ? file_->size() : 0; }

 private:
  [[nodiscard]] core::Result<void> make(const Profile& profile, const core::RunFacts& facts);
  void begin(const Profile& profile);
  void flush(const Profile& profile);
  void fail(const core::Error& error);

  RunDirectory& directory_;
  const core::TimePoint started_;
  const std::function<State()> at_first_sample_;
  std::unique_ptr<GrowingFile> file_;
  std::optional<RecordingWriter> writer_;
  bool failed_ = false;
  core::TimePoint flushed_{};
};

/// `named`: null if there are no names yet.
[[nodiscard]] Recorder::State recorded_state(const RunReport& report, const NamedProfile* named);

/// The header of a run's files.
[[nodiscard]] ContainerHeader container_header(const core::RunFacts& facts,
                                               core::TimePoint started);

/// A recording without the single samples, for when the run's directory could not be written.
void write_recording(std::ostream& out, const Profile& profile, core::TimePoint started,
                     const Recorder::State& state);

}  // namespace sp::profiler
