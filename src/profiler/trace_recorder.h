#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/clock.h"
#include "core/messages.h"
#include "core/result.h"
#include "core/run_facts.h"
#include "profiler/formats/symbols_tsv.h"
#include "profiler/namer.h"
#include "profiler/profile.h"
#include "profiler/run_directory.h"
#include "profiler/trace/trace_writer.h"

namespace sp::profiler {

/// Keeps trace.sp of a run (--trace): makes it with the first events, and appends what comes; names
/// follow with write_set(). After the first error, which is said at once and by write_set(), no
/// more events are written; those that are not in the file are counted. On the profiler thread.
class TraceRecorder {
 public:
  static constexpr std::string_view kFile = "trace.sp";
  static constexpr core::Duration kInterval = std::chrono::seconds(1);

  /// `directory` must outlive it. `most_bytes`: about how large the file may become; 0: no limit.
  /// Events beyond that are not written, and counted.
  TraceRecorder(RunDirectory& directory, core::TimePoint started,
                std::function<core::RunFacts()> facts_now, std::uint64_t most_bytes = 0);

  void add(const core::TraceEventsTaken& taken, const Profile& profile);
  /// What write_set() says of all functions: calls were traced from then on, not from the start.
  void set_since(std::optional<core::TimePoint> since) { since_ = since; }
  /// Says in which part of the run the functions were traced.
  void complete(std::span<SymbolRow> rows) const;
  /// Writes what is held if that is due.
  void tick(core::TimePoint now);
  /// TraceAction::flush: writes what is held, and names for it. clear: begins the file again.
  void serve(core::TraceAction action, const Profile& profile, Namer& namer);
  /// Writes the events that are held.
  void flush();
  /// How many events of add() are not in the file, after flush().
  [[nodiscard]] std::uint64_t unwritten() const;
  /// The file has reached its largest size.
  [[nodiscard]] bool is_full() const { return is_full_; }
  /// A new file begins, in `directory`, which must outlive it. Events that are held are lost. Of
  /// the threads only those that are `alive` have more; an empty set stands for all.
  void begin_part(RunDirectory& directory, core::TimePoint started,
                  const std::unordered_set<core::ThreadId>& alive);
  /// Of the function that begins there. Nothing: it is a part of another one, or was not traced to
  /// the end.
  [[nodiscard]] std::optional<std::uint64_t> entries_of(core::ModuleOffset start) const;
  /// How many events there were: written, unwritten and cleared. How large the file is.
  [[nodiscard]] std::uint64_t events() const { return taken_ + cleared_; }
  [[nodiscard]] std::uint64_t bytes() const { return file_ ? file_->size() : 0; }
  /// How many events of add() were forgotten by TraceAction::clear.
  [[nodiscard]] std::uint64_t cleared() const { return cleared_; }
  /// Writes the names of all that events have named, and run.json; with `last` says that nothing is
  /// missing. After an error it still writes what it can, and returns the first one of the run.
  [[nodiscard]] core::Result<WrittenFile> write_set(const Profile& profile, Namer& namer,
                                                    std::string_view run_json, bool last);

 private:
  struct Function {
    core::TracedFunction<core::ModuleOffset> traced;
    std::uint32_t module = 0;
    std::uint64_t entries = 0;
  };
  struct Thread {
    core::ThreadId id;
    core::ProcessId process;
  };

  [[nodiscard]] core::Result<void> begin();
  [[nodiscard]] core::Result<void> write(const core::TraceEventsTaken& taken,
                                         const Profile& profile);
  [[nodiscard]] core::Result<std::uint32_t> thread_number(core::ThreadId thread,
                                                          core::ProcessId process);
  [[nodiscard]] core::Result<std::uint32_t> function_number(
      const core::TracedFunction<core::ModuleOffset>& function, const Profile& profile);
  [[nodiscard]] core::Result<std::uint32_t> module_number(core::ModuleId id,
                                                          const Profile& profile);
  [[nodiscard]] core::Result<void> write_names_and_facts(const Profile& profile, Namer& namer,
                                                         std::string_view run_json);
  [[nodiscard]] core::Result<void> write_tasks(const Profile& profile);
  /// Of functions from that number on.
  [[nodiscard]] core::Result<void> write_names(Namer& namer, std::uint32_t from);
  [[nodiscard]] std::uint64_t id_of(const Function& function) const;
  /// That many events more fit into the file. Says once that it is full.
  [[nodiscard]] bool has_room_for(std::uint64_t events);
  void clear();
  void forget_numbers();
  void keep_error(const core::Result<void>& written);
  void keep_and_say(const core::Result<void>& written);

  RunDirectory* directory_;
  core::TimePoint started_;
  const std::function<core::RunFacts()> facts_now_;
  const std::uint64_t most_bytes_;
  bool is_full_ = false;
  std::uint64_t cleared_ = 0;
  std::unique_ptr<GrowingFile> file_;
  std::optional<TraceWriter> writer_;
  std::optional<core::Error> error_;  // the first one
  std::uint64_t taken_ = 0;           // events
  core::TimePoint flushed_{};
  std::optional<core::TimePoint> since_;
  /// How many events a thread had until the end of its last batch, and when the part began.
  std::unordered_map<core::ThreadId, std::uint64_t> events_of_;
  std::unordered_map<core::ThreadId, std::uint64_t> events_before_;
  /// How long a thread had been stopped by then, likewise; ticks.
  std::unordered_map<core::ThreadId, std::uint64_t> stolen_from_;
  std::unordered_map<core::ThreadId, std::uint64_t> stolen_before_;
  std::vector<Thread> threads_;
  std::unordered_map<core::ThreadId, std::uint32_t> thread_numbers_;
  std::vector<Function> functions_;
  std::uint32_t named_ = 0;  // of functions_: have their names in the file
  std::unordered_map<core::ModuleOffset, std::uint32_t> function_numbers_;
  std::unordered_map<std::uint32_t, std::uint32_t> module_numbers_;  // by ModuleId
  std::vector<std::optional<std::uint32_t>> module_hashes_;          // nothing: it has no file
  std::unordered_set<std::uint64_t> ended_;  // ids, in parts of the run before this one
};

}  // namespace sp::profiler
