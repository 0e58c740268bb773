#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>

#include "core/clock.h"
#include "core/messages.h"
#include "core/result.h"
#include "core/run_facts.h"
#include "profiler/run_directory.h"

namespace sp::profiler {

/// --split: a run in parts, each with files of its own.
struct SplitOptions {
  core::Duration every{};   // how long a part lasts; 0: any time
  std::uint64_t bytes = 0;  // how large its recording and trace become; 0: any size
  std::size_t keep = 0;     // how many parts; those before are removed; 0: all
  /// The directory of the run's part with that number, from 2 on.
  std::function<core::Result<RunDirectory>(std::uint32_t part)> make_directory;
  /// Asks for what was counted; a core::SnapshotWanted follows it.
  std::function<void()> ask;
};

/// The numbers of `now` less those of `before`, of the same run. What cannot be subtracted is that
/// of `now`: how many probes there are, the longest stop.
[[nodiscard]] core::RunFacts facts_since(core::RunFacts now, const core::RunFacts& before);

/// Which part of a run is written, and when the next one begins. A part ends between two records:
/// behind everything that was counted before some moment, before everything that comes later. On
/// the profiler thread.
class RunParts {
 public:
  /// Without `split` the run is one part.
  RunParts(std::optional<SplitOptions> split, core::TimePoint started);

  /// Of the current part: times in its files count from here.
  [[nodiscard]] core::TimePoint started() const { return started_; }
  [[nodiscard]] bool is_first() const { return part_ == 1; }
  [[nodiscard]] bool is_split() const { return split_.has_value(); }
  /// What the current part has of the facts of the whole run as of now; so many events of a trace
  /// have come for it.
  [[nodiscard]] core::RunFacts facts_of(core::RunFacts whole, std::uint64_t events) const;

  void note(const core::SampleTaken& sample) { last_sample_ = sample.time; }
  void note(const core::ThreadSeen& seen) { alive_.insert(seen.thread); }
  /// Asks for the end of the part if that is due; its files have `bytes`.
  void tick(core::TimePoint now, std::uint64_t bytes);
  /// What was asked for has come, or a snapshot that the user wanted: if the part is to end, the
  /// directory of the next one. If there is none, which is said, the run goes on without parts.
  [[nodiscard]] std::unique_ptr<RunDirectory> on_snapshot();
  /// The facts of the part that ends, whose successor on_snapshot() has returned.
  [[nodiscard]] core::RunFacts last_facts(core::RunFacts whole, std::uint64_t events) const;
  /// The next part begins. `finished` has the files of the one before.
  void begin_next(core::RunFacts whole, std::unique_ptr<RunDirectory> finished);
  /// The threads that were alive when the part began; empty if that is not known.
  [[nodiscard]] const std::unordered_set<core::ThreadId>& alive() const { return alive_before_; }

 private:
  [[nodiscard]] core::TimePoint boundary() const;

  std::optional<SplitOptions> split_;
  const core::TimePoint run_started_;
  core::TimePoint started_;
  std::uint32_t part_ = 1;
  core::RunFacts before_;  // of the whole run, when the part began
  std::optional<core::TimePoint> asked_at_;
  core::TimePoint last_sample_{};
  std::unordered_set<core::ThreadId> alive_;  // told since the end of the part was asked for
  std::unordered_set<core::ThreadId> alive_before_;
  std::deque<std::unique_ptr<RunDirectory>> finished_;  // with SplitOptions::keep
};

}  // namespace sp::profiler
