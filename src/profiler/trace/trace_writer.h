#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "core/ids.h"
#include "core/module.h"
#include "core/result.h"
#include "profiler/recording/chunk_stream.h"
#include "profiler/recording/container_writer.h"
#include "profiler/trace/trace_file.h"

namespace sp::profiler {

/// Writes trace.sp while the run goes on. Holds at most kMostHeld events and one chunk of each
/// table; rows stand in the file before the events that name them. After an error of a call the
/// file is complete up to the chunk before, and more may be added; what that call had to write is
/// lost.
class TraceWriter {
 public:
  static constexpr std::uint64_t kMostHeld = std::uint64_t{1} << 17U;

  /// `sink` must outlive it.
  explicit TraceWriter(ByteSink& sink);

  [[nodiscard]] core::Result<void> begin(const ContainerHeader& header);
  [[nodiscard]] core::Result<void> add_process(core::ProcessId process, core::ProcessId parent,
                                               std::string_view command);
  /// A later row of a number replaces the earlier one: here, of modules and of functions. `number`
  /// is at most Profile::kMaxThreads.
  [[nodiscard]] core::Result<void> add_thread(std::uint32_t number, core::ThreadId thread,
                                              core::ProcessId process, std::string_view name,
                                              std::int64_t start_ns = 0);
  /// `base`: where ELF address 0 is in the process that the module was first seen in.
  [[nodiscard]] core::Result<void> add_module(std::uint32_t number, std::string_view path,
                                              std::string_view build_id, std::uint64_t base,
                                              core::ModuleKind kind);
  [[nodiscard]] core::Result<void> add_function(std::uint32_t number,
                                                const TraceFunction& function);
  /// The next events of a thread. `first` is the number of the first among all of the thread,
  /// `lost` says how many are missing just before it. The functions are numbers of add_function().
  [[nodiscard]] core::Result<void> add_events(std::uint32_t thread, std::uint64_t first,
                                              std::uint64_t lost,
                                              std::span<const core::TraceEvent> events);
  /// `ticks` were read at `ns` nanoseconds since the run's start. Ticks of a file without such a
  /// pair are CLOCK_MONOTONIC in nanoseconds.
  [[nodiscard]] core::Result<void> add_clock(std::uint64_t ticks, std::int64_t ns);
  /// run.json as of `now_ns`, nanoseconds since the run's start. It replaces an earlier one.
  [[nodiscard]] core::Result<void> write_facts(std::string_view text, std::int64_t now_ns = 0);

  /// Writes what is held.
  [[nodiscard]] core::Result<void> flush();
  /// Flushes, and says that nothing is missing.
  [[nodiscard]] core::Result<void> finish();
  /// How many of all events are in the file; those that are held are not yet.
  [[nodiscard]] std::uint64_t events_written() const { return events_written_; }
  [[nodiscard]] std::uint64_t events_held() const { return events_held_; }

 private:
  [[nodiscard]] core::Result<void> flush_tables();
  [[nodiscard]] core::Result<void> write(TraceEvents& held);

  ContainerWriter container_;
  StringStream strings_;
  RowStream processes_;
  RowStream threads_;
  RowStream modules_;
  RowStream functions_;
  RowStream clocks_;
  std::map<std::uint32_t, TraceEvents> held_;  // by thread; empty: written
  std::uint64_t events_held_ = 0;
  std::uint64_t events_written_ = 0;
  std::uint32_t fact_sets_ = 0;
};

}  // namespace sp::profiler
