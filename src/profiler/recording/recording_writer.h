#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/clock.h"
#include "core/messages.h"
#include "core/result.h"
#include "profiler/profile.h"
#include "profiler/recording/chunk_stream.h"
#include "profiler/recording/container_writer.h"
#include "profiler/recording/set_writer.h"

namespace sp::profiler {

/// Writes recording.sp while the run goes on. Holds the samples since the last flush, at most a
/// chunk of them; the rest it takes from the profile. After an error what was written before can be
/// read, and more may be written; the samples of that flush are lost.
class RecordingWriter {
 public:
  /// After so many samples every second one is written, after as many again every fourth, and so
  /// on; readers leave out those before that are not among these.
  static constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 22U;

  /// `sink` must outlive it; times in the file count from `started`.
  RecordingWriter(ByteSink& sink, core::TimePoint started,
                  std::uint64_t most_samples = kMostSamples);

  [[nodiscard]] core::Result<void> begin(const ContainerHeader& header);
  void add(const core::SampleTaken& sample, Profile::Placed placed);
  /// A module that is new, or a module or thread that is not what it was when it was written.
  void module_changed(std::size_t number) { modules_.push_back(number); }
  void thread_changed(std::uint32_t number) { threads_.push_back(number); }
  /// It is time for flush().
  [[nodiscard]] bool is_full() const { return samples_.size() >= kSamplesInChunk; }
  [[nodiscard]] bool has_samples() const { return !samples_.empty(); }

  /// Writes what is new.
  [[nodiscard]] core::Result<void> flush(const Profile& profile);
  /// Writes what is new, and a set of names and facts, which replaces the one before.
  [[nodiscard]] core::Result<void> write_set(const Profile& profile, const SetContent& content,
                                             core::TimePoint now);
  /// Says that nothing is missing.
  [[nodiscard]] core::Result<void> finish() { return container_.finish(); }

 private:
  static constexpr std::size_t kSamplesInChunk = std::size_t{1} << 15U;

  struct Sample {
    std::int64_t time = 0;
    std::uint64_t weight = 0;
    std::uint32_t thread = 0;
    std::uint32_t node = 0;
    std::uint8_t kind = 0;
  };

  void thin();
  [[nodiscard]] core::Result<void> write_modules(const Profile& profile);
  [[nodiscard]] core::Result<void> write_tasks(const Profile& profile);
  [[nodiscard]] core::Result<void> write_places(const Profile& profile);
  [[nodiscard]] core::Result<void> write_nodes(const Profile& profile);
  [[nodiscard]] core::Result<void> write_samples();
  [[nodiscard]] std::int64_t since_start(core::TimePoint time) const {
    return (time - started_).count();
  }

  const core::TimePoint started_;
  const std::uint64_t most_samples_;
  ContainerWriter container_;
  StringStream strings_;
  std::vector<std::size_t> modules_;
  std::vector<std::uint32_t> threads_;
  std::size_t processes_written_ = 0;
  std::size_t threads_written_ = 0;
  std::size_t places_written_ = 0;
  std::size_t nodes_written_ = 0;
  std::uint32_t sets_ = 0;

  std::uint64_t seen_ = 0;    // samples
  std::uint64_t stride_ = 1;  // every how manyth is kept
  std::uint64_t kept_ = 0;    // with this stride
  std::uint64_t first_ = 0;   // the number of the first of samples_
  std::vector<Sample> samples_;
};

}  // namespace sp::profiler
