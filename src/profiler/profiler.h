#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/channel.h"
#include "core/clock.h"
#include "core/messages.h"
#include "core/result.h"
#include "core/run_facts.h"
#include "profiler/code_profile.h"
#include "profiler/counted_span.h"
#include "profiler/crash/crash_recorder.h"
#include "profiler/formats/run_json.h"
#include "profiler/formats/symbols_tsv.h"
#include "profiler/line_coverage.h"
#include "profiler/named_code.h"
#include "profiler/named_profile.h"
#include "profiler/namer.h"
#include "profiler/output_files.h"
#include "profiler/probed_profile.h"
#include "profiler/profile.h"
#include "profiler/push/push_options.h"
#include "profiler/push/pusher.h"
#include "profiler/recorder.h"
#include "profiler/reused_code.h"
#include "profiler/run_directory.h"
#include "profiler/run_parts.h"
#include "profiler/trace_recorder.h"
#include "profiler/tree/tree_recorder.h"
#include "profiler/written_run.h"

namespace sp::profiler {

/// Whether and how code is counted; if it is, blocks.tsv and edges.tsv are written too.
enum class Counting : std::uint8_t {
  none,
  exact,    // all code, instead of sampling
  probed,   // by probes while sampling
  covered,  // whether it is reached at all, by probes: coverage.tsv instead
  traced,   // calls and returns, by probes: trace.sp instead
  treed,    // calls in their contexts, by probes: tree.json instead
};

struct ProfilerOptions {
  bool flame = false;      // write flamegraph.svg too
  bool by_thread = false;  // stacks begin with their thread's name
  bool wall = false;       // blocked threads are sampled too, which the results say
  Counting counting = Counting::none;
  /// When counting began, if later than the first instruction of a launched target.
  std::optional<core::Duration> counted_since{};
  core::TimePoint started{};                      // of the run: times in files count from it
  core::Coverage coverage = core::Coverage::off;  // with Counting::covered
  bool counts_inside = false;                     // of some functions, with Counting::exact
  std::vector<SourceMap> source_maps{};           // likewise
  std::size_t max_nodes = Profile::kMaxNodes;
  std::uint64_t trace_bytes = 0;  // with Counting::traced: how large trace.sp may be; 0: any size
  /// With Counting::traced: every function of the files whose functions are traced.
  std::function<std::vector<SymbolRow>()> traced_functions{};
  bool traces_all_calls = true;  // likewise: not only long or outer ones, or those of a part
  bool learns = false;           // likewise: learned.toml is written
  /// With Counting::treed: the functions of a file that have places; see ContextTree.
  std::function<ContextTree::Planned(const core::Module&)> planned_functions{};
  std::optional<EmitOptions> emit{};  // likewise: who gets the tree while it grows
  std::optional<PushOptions> push{};  // who gets the samples as they come
  std::optional<SplitOptions> split{};
  std::string version{};  // of superprofiler, for run.json
  /// Called on the profiler thread for a snapshot: what is known of the run by then.
  std::function<core::RunFacts()> facts_now{};
  /// Called on the profiler thread when it has done what was asked of a trace. `cleared`: how many
  /// events that had reached it are gone.
  std::function<void(const core::TraceRequest&, std::uint64_t cleared)> on_request_served{};
  /// Called on the profiler thread when it has opened what it reads of a process that has crashed.
  std::function<void(core::ProcessId)> on_crash{};
  /// Called on the profiler thread about every `tick`, for a status line.
  std::function<void()> on_tick{};
  core::Duration tick = std::chrono::milliseconds(200);
};

/// Counts of the records so far; any thread may read them.
struct Progress {
  std::atomic<std::uint64_t> on_cpu = 0;
  std::atomic<std::uint64_t> blocked = 0;
  std::atomic<std::uint64_t> truncated = 0;
  std::atomic<std::uint64_t> lost = 0;

  [[nodiscard]] std::uint64_t samples() const { return on_cpu + blocked; }
};

/// The third stage: takes records and writes files. run(), snapshots and finish() execute on one
/// thread, the profiler thread, which also owns the namer. The channel must outlive it.
class Profiler {
 public:
  Profiler(ProfilerOptions options, core::Channel<core::Record>& records,
           std::unique_ptr<Namer> namer, RunDirectory directory);

  /// Reads records until the channel is closed and empty.
  void run();
  /// Names and writes everything. Files that cannot be written to the run's directory go to a
  /// fallback directory; fails only if no file could be written.
  [[nodiscard]] core::Result<WrittenRun> finish(const core::RunFacts& facts);

  [[nodiscard]] const Progress& progress() const { return progress_; }

 private:
  void take(core::Record&& record);
  void tick();
  void take(const core::SampleTaken& sample);
  void add(const core::SampleTaken& sample);
  void take(const core::CrashSeen& crash);
  void open_files_of(const core::Stack& stack);
  [[nodiscard]] core::RunFacts facts_now() const;
  void begin_part(std::unique_ptr<RunDirectory> directory);
  void write_snapshot();
  void serve(const core::TraceRequest& request);
  [[nodiscard]] core::Result<WrittenRun> write_files(const core::RunFacts& facts, bool snapshot);
  [[nodiscard]] RunReport report(const core::RunFacts& facts, bool snapshot,
                                 const NamedCode* code) const;
  void record_set(const RunReport& report, const NamedProfile& named, WrittenRun& written,
                  std::vector<Output>& failed);
  [[nodiscard]] std::optional<NamedCode> named_code(const core::RunFacts& facts) const;
  [[nodiscard]] CountsContext counts_context() const;

  const ProfilerOptions options_;
  core::Channel<core::Record>& records_;
  const std::unique_ptr<Namer> namer_;
  ReusedCode reused_;
  RunParts parts_;
  std::unique_ptr<RunDirectory> directory_;  // of the part; never null, like what writes there
  Profile profile_;
  CodeProfile code_;
  ProbedProfile probed_;
  std::unique_ptr<CrashRecorder> crashes_;
  std::unique_ptr<Recorder> recorder_;
  TraceRecorder trace_;
  std::optional<TreeRecorder> tree_;  // with Counting::treed
  std::unique_ptr<Pusher> push_;      // null without --push
  core::TimePoint next_status_{};
  Progress progress_;
  std::set<core::ModuleId> unopened_;  // modules whose files were not read yet
};

}  // namespace sp::profiler
