#include "commands/record/record.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "analyzer/analyzer.h"
#include "arch/native.h"
#include "commands/record/stack_source.h"
#include "commands/record/stage_options.h"
#include "commands/record/static_analysis.h"
#include "commands/record/status_line.h"
#include "core/check.h"
#include "core/log.h"
#include "profiler/profiler.h"
#include "profiler/summary.h"
#include "profiler/symbol_namer.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/startup/launch.h"
#include "supervisor/supervisor.h"

namespace sp::record {
namespace {

// A sample takes 16 to 64 KiB, and up to a megabyte with deep stacks.
constexpr std::size_t kEventsQueued = 1024;
constexpr std::size_t kRecordsQueued = 16384;  // opening a large debug file takes seconds
constexpr std::size_t kRequestsQueued = 256;

/// PROGRAM-PID, with the program's base name.
std::string run_name(const cli::RecordOptions& options, pid_t pid) {
  if (!options.name.empty()) {
    return options.name;
  }
  std::string program;
  if (options.pid) {
    program = supervisor::read_name(pid, pid);
    const auto words = supervisor::read_command_line(pid);
    if (!words.empty()) {
      program = words.front();
    }
  } else {
    program = options.command.front();
  }
  program = program.substr(program.rfind('/') + 1);
  if (program.empty() || program.front() == '.') {
    program = "run" + program;
  }
  return fmt::format("{}-{}", program, pid);
}

/// Owns the parts of one run, in the order in which they depend on each other.
class Recording {
 public:
  Recording(const cli::RecordOptions& options, const std::vector<std::string>& own_argv,
            supervisor::Guardian& guardian)
      : options_(options),
        events_(kEventsQueued),
        records_(kRecordsQueued),
        requests_(kRequestsQueued),
        analysis_({options.only_funcs, options.only_instrument_execs, options.debug_dirs,
                   finds_references(options)}),
        supervisor_(supervisor_options(options, analysis_), guardian, events_, requests_),
        status_line_(!options.no_progress && options.verbosity != cli::Verbosity::quiet) {
    facts_.options = own_argv;
    facts_.host_arch = arch::Native::kName;
    facts_.notes = options.notes;
  }

  Ending run();

 private:
  [[nodiscard]] core::RunFacts facts() const;
  void show_status();
  void profile(profiler::RunDirectory directory, std::promise<pid_t>& tid);
  void analyze(std::promise<pid_t>& tid);
  [[nodiscard]] bool make_directory(pid_t pid);
  [[nodiscard]] std::optional<Ending> prepare();
  [[nodiscard]] Ending ending() const;

  const cli::RecordOptions& options_;
  core::Channel<core::StopEvent> events_;
  core::Channel<core::Record> records_;
  core::Channel<core::Request> requests_;
  StaticAnalysis analysis_;
  supervisor::Supervisor supervisor_;
  StatusLine status_line_;
  core::RunFacts facts_;
  std::optional<profiler::RunDirectory> directory_;  // until the profiler thread takes it
  core::TimePoint started_;
  std::optional<core::Duration> elapsed_;
  profiler::Profiler* profiler_ = nullptr;                   // while the profiler thread runs
  std::promise<std::optional<core::RunFacts>> final_facts_;  // nothing: there was no run
  core::Result<profiler::WrittenRun> written_{core::fail("nothing was written")};
  std::atomic<bool> written_out_{false};
};

pid_t own_tid() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

core::RunFacts Recording::facts() const {
  core::RunFacts facts = facts_;
  supervisor_.fill(facts);
  facts.elapsed = elapsed_.value_or(core::Clock::now() - started_);
  return facts;
}

void Recording::show_status() {
  const core::RunFacts now = facts();
  const auto& progress = profiler_->progress();
  const core::Copying copying = now.probing ? now.probing->copying : core::Copying{};
  status_line_.show({now.elapsed, progress.samples(), progress.blocked, now.losses.samples_dropped,
                     now.cost.overhead_percent, now.cost.mean_interval,
                     copying.functions - copying.dropped});
}

/// The body of the profiler thread.
void Recording::profile(profiler::RunDirectory directory, std::promise<pid_t>& tid) {
  ::prctl(PR_SET_NAME, "sp-profiler");
  tid.set_value(own_tid());
  profiler::ProfilerOptions out = profiler_options(options_);
  out.started = started_;
  out.version = SP_VERSION;
  out.facts_now = [this] { return facts(); };
  out.on_tick = [this] { show_status(); };
  symbols::SymbolizerOptions symbolizer;
  symbolizer.debug_directories = options_.debug_dirs;
  profiler::Profiler profiler(std::move(out), records_,
                              std::make_unique<profiler::SymbolNamer>(std::move(symbolizer)),
                              std::move(directory));
  profiler_ = &profiler;
  profiler.run();
  status_line_.clear();
  if (const auto final_facts = final_facts_.get_future().get()) {
    written_ = profiler.finish(*final_facts);
  }
  profiler_ = nullptr;
  written_out_ = true;
  supervisor_.wakeup().send();
}

/// The body of the analyzer thread.
void Recording::analyze(std::promise<pid_t>& tid) {
  ::prctl(PR_SET_NAME, "sp-analyzer");
  tid.set_value(own_tid());
  analyzer::Analyzer analyzer(
      make_stack_source(), events_, records_, requests_,
      [this] {
        supervisor_.user_requests().requests = true;
        supervisor_.wakeup().send();
      },
      instrumentation_policy(options_));
  analyzer.run();
}

bool Recording::make_directory(pid_t pid) {
  facts_.name = run_name(options_, pid);
  auto made = profiler::RunDirectory::create(options_.output, facts_.name, options_.overwrite);
  if (!made) {
    core::print_error(made.error().message());
    return false;
  }
  directory_.emplace(std::move(*made));
  return true;
}

/// Everything up to the start of the target; the status of a failure, which was reported.
std::optional<Ending> Recording::prepare() {
  // Problems with the run's directory must be known before anything is done to a process.
  if (options_.pid && !make_directory(*options_.pid)) {
    return Ending{125, 0};
  }
  if (const auto prepared = supervisor_.prepare(); !prepared) {
    core::print_error(prepared.error().message);
    return Ending{prepared.error().status, 0};
  }
  if (!options_.pid && !make_directory(supervisor_.pid())) {
    return Ending{125, 0};
  }
  facts_.command =
      options_.pid ? supervisor::read_command_line(supervisor_.pid()) : options_.command;
  return std::nullopt;
}

Ending Recording::run() {
  if (const auto failed = prepare()) {
    return *failed;
  }
  facts_.started_at = std::chrono::system_clock::now();
  started_ = core::Clock::now();

  std::promise<pid_t> profiler_tid;
  std::promise<pid_t> analyzer_tid;
  std::jthread profiler_thread([&] { profile(std::move(*directory_), profiler_tid); });
  std::jthread analyzer_thread([&] { analyze(analyzer_tid); });
  const std::vector<pid_t> helpers = {profiler_tid.get_future().get(),
                                      analyzer_tid.get_future().get()};
  std::jthread timer_thread([this, main = own_tid(), helpers](const std::stop_token& stop) {
    supervisor_.timer().run(stop, main, helpers);
  });

  supervisor_.begin();
  supervisor_.run();
  elapsed_ = core::Clock::now() - started_;
  if (supervisor_.exec_failure()) {
    core::print_error(supervisor_.exec_failure()->message);
    final_facts_.set_value(std::nullopt);
  } else {
    analysis_.report_not_mapped();
    final_facts_.set_value(facts());
  }
  // A third Ctrl-C stops the writing of results.
  supervisor_.serve([this] { return written_out_ || supervisor_.user_requests().interrupts > 2; });
  if (!written_out_) {
    core::print_error("interrupted: results not written");
    ::_exit(ending().status != 0 ? ending().status : 130);
  }
  profiler_thread.join();
  return ending();
}

Ending Recording::ending() const {
  if (supervisor_.exec_failure()) {
    return {supervisor_.exec_failure()->status, 0};
  }
  const core::RunFacts now = facts();
  const bool nothing_written = !written_;
  Ending ending;
  if (!options_.pid && now.end == core::RunEnd::target_exited) {
    ending.status = now.exit_status.value_or(0);
  } else if (!options_.pid && now.end == core::RunEnd::target_killed) {
    ending.signal = now.exit_signal.value_or(0);
  } else if (nothing_written) {
    ending.status = 125;
  }
  if (nothing_written) {
    core::print_error(written_.error().message());
  } else if (options_.verbosity != cli::Verbosity::quiet) {
    profiler::SummaryStyle style;
    style.columns = terminal_columns() - core::kLogPrefix.size();
    style.colour = wants_colour(options_.color);
    core::print_lines(profiler::summary_text(now, *written_, style));
  }
  return ending;
}

}  // namespace

Ending run(const cli::RecordOptions& options, const std::vector<std::string>& own_argv) {
  core::set_log_level(options.verbosity == cli::Verbosity::quiet     ? core::LogLevel::quiet
                      : options.verbosity == cli::Verbosity::verbose ? core::LogLevel::verbose
                                                                     : core::LogLevel::normal);
  for (const std::string& note : options.notes) {
    core::print_note(note);
  }
  supervisor::block_control_signals();
  supervisor::raise_open_files_limit();
  auto guardian = supervisor::Guardian::start();
  if (!guardian) {
    core::print_error(guardian.error().message());
    return {125, 0};
  }
  Recording recording(options, own_argv, *guardian);
  return recording.run();
}

}  // namespace sp::record
