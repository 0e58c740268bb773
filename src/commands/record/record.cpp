#include "commands/record/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "arch/decode_of_machine.h"
#include "arch/native.h"
#include "commands/record/control.h"
#include "commands/record/dormancy.h"
#include "commands/record/function_check.h"
#include "commands/record/run_directories.h"
#include "commands/record/stage_options.h"
#include "commands/record/static_analysis.h"
#include "commands/record/status_line.h"
#include "commands/run_files/coverage_file.h"
#include "commands/run_files/finished_run.h"
#include "commands/session/session.h"
#include "core/check.h"
#include "core/log.h"
#include "profiler/profiler.h"
#include "profiler/summary.h"
#include "profiler/symbol_namer.h"
#include "supervisor/guardian/guardian.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/supervisor.h"
#include "symbols/function_filters.h"

namespace sp::record {
namespace {

/// Owns the parts of one run, in the order in which they depend on each other.
class Recording {
 public:
  Recording(const cli::RecordOptions& options, const std::vector<std::string>& own_argv,
            run_files::KnownCoverage known_coverage, symbols::FunctionFilters filters,
            std::optional<session::ListeningSocket> socket, supervisor::Guardian& guardian)
      : options_(options),
        analysis_({options.only_funcs, options.only_instrument_execs, options.debug_dirs,
                   finds_references(options), std::move(known_coverage), options.sees_calls(),
                   std::move(filters), options.control.triggers,
                   options.learn ? options.learn->keep_overhead_percent : 0, options.places,
                   options.trace && !options.control.path.empty(), options.toggle_collect}),
        control_(std::move(socket)),
        directories_(options),
        status_line_(!options.no_progress && options.verbosity != cli::Verbosity::quiet),
        session_({supervisor_options(options, analysis_), instrumentation_policy(options), {}},
                 guardian) {
    if (options.control.dormant_after_percent) {
      dormancy_.emplace(*options.control.dormant_after_percent, !options.control.path.empty(),
                        session_.supervisor().trace_requests());
    }
    facts_.options = own_argv;
    facts_.host_arch = arch::Native::kName;
    facts_.notes = options.notes;
    if (!options.toggle_collect.empty()) {
      facts_.notes.push_back(fmt::format("counted only in {} and what is called from there",
                                         fmt::join(options.toggle_collect, ", ")));
    }
  }

  Ending run();

 private:
  [[nodiscard]] core::RunFacts facts() const;
  void show_status();
  void profile(profiler::RunDirectory directory);
  [[nodiscard]] bool make_directory(pid_t pid);
  [[nodiscard]] std::optional<Ending> prepare();
  [[nodiscard]] Ending ending() const;

  const cli::RecordOptions& options_;
  StaticAnalysis analysis_;
  Control control_;
  RunDirectories directories_;
  StatusLine status_line_;
  core::RunFacts facts_;
  std::optional<profiler::RunDirectory> directory_;  // until the profiler thread takes it
  core::TimePoint started_;
  std::optional<core::Duration> elapsed_;
  profiler::Profiler* profiler_ = nullptr;                   // while the profiler thread runs
  std::promise<std::optional<core::RunFacts>> final_facts_;  // nothing: there was no run
  core::Result<profiler::WrittenRun> written_{core::fail("nothing was written")};
  std::optional<Dormancy> dormancy_;
  session::Session session_;  // last: its threads use the others
};

core::RunFacts Recording::facts() const {
  core::RunFacts facts = facts_;
  session_.supervisor().fill(facts);
  add_choice(options_, facts);
  facts.elapsed = elapsed_.value_or(core::Clock::now() - started_);
  if (dormancy_) {
    const auto notes = dormancy_->notes();
    facts.notes.insert(facts.notes.end(), notes.begin(), notes.end());
  }
  return facts;
}

void Recording::show_status() {
  const core::RunFacts now = facts();
  if (dormancy_) {
    dormancy_->look(now, core::Clock::now());
  }
  const auto& progress = profiler_->progress();
  const core::Copying copying = now.probing ? now.probing->copying : core::Copying{};
  status_line_.show({now.elapsed, progress.samples(), progress.blocked, now.losses.samples_dropped,
                     now.cost.overhead_percent, now.cost.mean_interval,
                     copying.functions - copying.dropped});
}

/// The body of the profiler thread.
void Recording::profile(profiler::RunDirectory directory) {
  profiler::ProfilerOptions out = profiler_options(options_);
  out.started = started_;
  out.version = SP_VERSION;
  out.facts_now = [this] { return facts(); };
  out.on_tick = [this] { show_status(); };
  out.on_request_served = std::bind_front(&Control::note_written, &control_);
  out.on_crash = [this](core::ProcessId process) {
    session_.request(core::CrashResolved{process});
  };
  if (options_.split) {
    out.split =
        profiler::SplitOptions{options_.split->every, options_.split->bytes, options_.split->keep,
                               [this](std::uint32_t part) { return directories_.make_part(part); },
                               [this] {
                                 ++session_.supervisor().user_requests().snapshots;
                                 session_.supervisor().wakeup().send();
                               }};
  }
  if (options_.trace) {
    out.traced_functions = [this] { return analysis_.traced_functions(); };
  }
  if (options_.tree) {
    out.planned_functions = [this](const core::Module& module) {
      return analysis_.planned_functions(module);
    };
  }
  // The server is asked later: while the target runs, samples would be lost meanwhile.
  symbols::SymbolizerOptions symbolizer{
      options_.debug_dirs, true, nullptr, true, arch::decode_of_machine, session::run_beside};
  symbolizer.server = symbols::DebugServer::of_environment(
      {[this] { return session_.supervisor().user_requests().interrupts.load(); }});
  profiler::Profiler profiler(std::move(out), session_.records(),
                              std::make_unique<profiler::SymbolNamer>(std::move(symbolizer)),
                              std::move(directory));
  profiler_ = &profiler;
  profiler.run();
  status_line_.clear();
  if (const auto final_facts = final_facts_.get_future().get()) {
    written_ = profiler.finish(*final_facts);
  }
  profiler_ = nullptr;
}

bool Recording::make_directory(pid_t pid) {
  facts_.name = run_name(options_, pid);
  auto made = directories_.make(facts_.name);
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
  if (!options_.launches_target() && !make_directory(options_.pids.front())) {
    return Ending{125, 0};
  }
  if (const auto prepared = session_.supervisor().prepare(); !prepared) {
    core::print_error(prepared.error().message);
    return Ending{prepared.error().status, 0};
  }
  if (options_.launches_target() && !make_directory(session_.supervisor().pid())) {
    return Ending{125, 0};
  }
  facts_.command = options_.launches_target()
                       ? options_.command
                       : supervisor::read_command_line(session_.supervisor().pid());
  return std::nullopt;
}

Ending Recording::run() {
  if (const auto failed = prepare()) {
    return *failed;
  }
  facts_.started_at = std::chrono::system_clock::now();
  started_ = core::Clock::now();

  control_.start({options_, session_.supervisor().trace_requests(), [this] { return facts(); },
                  [this] { return directories_.current(); },
                  [this](std::span<const core::XrayIds> ids, bool is_patched) {
                    return analysis_.patch(ids, is_patched);
                  }});
  session_.start("sp-profiler", [this] { profile(std::move(*directory_)); });
  session_.run();
  control_.stop();
  elapsed_ = core::Clock::now() - started_;
  if (session_.supervisor().exec_failure()) {
    core::print_error(session_.supervisor().exec_failure()->message);
    final_facts_.set_value(std::nullopt);
  } else {
    analysis_.report_not_mapped();
    final_facts_.set_value(facts());
  }
  // A third Ctrl-C stops the writing of results.
  const bool written =
      session_.serve([this] { return session_.supervisor().user_requests().interrupts > 2; });
  if (!written) {
    core::print_error("interrupted: results not written");
    ::_exit(ending().status != 0 ? ending().status : 130);
  }
  return ending();
}

Ending Recording::ending() const {
  if (session_.supervisor().exec_failure()) {
    return {session_.supervisor().exec_failure()->status, 0};
  }
  const core::RunFacts now = facts();
  const bool nothing_written = !written_;
  Ending ending;
  if (options_.launches_target() && now.end == core::RunEnd::target_exited) {
    ending.status = now.exit_status.value_or(0);
  } else if (options_.launches_target() && now.end == core::RunEnd::target_killed) {
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
    core::print_lines(profiler::summary_text(written_->last_part.value_or(now), *written_, style));
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
  run_files::KnownCoverage known_coverage;
  for (const std::string& known : options.coverage_known) {
    std::vector<std::string> damage;
    auto table = run_files::read_coverage(known, damage);
    if (!table) {
      core::print_error("--coverage-known: " + table.error().message());
      return {125, 0};
    }
    run_files::print_notes(damage, "use");
    known_coverage.add(known, std::move(*table));
  }
  std::vector<std::string> notes;
  auto filters = symbols::FunctionFilters::read(options.filters, options.attr_lists, notes);
  for (const std::string& note : notes) {
    core::log_note("{}", note);
  }
  if (!filters) {
    constexpr int kUsage = 2;
    core::print_error(filters.error().message());
    return {filters.error().code == 0 ? kUsage : 125, 0};
  }
  if (const int failed = check_reader(options); failed != 0) {
    return {failed, 0};
  }
  const auto functions = check_functions(options, *filters);
  auto socket = functions ? Control::listen(options) : tl::unexpected(functions.error());
  if (!socket) {
    constexpr int kUsage = 2;
    core::print_error(socket.error().message());
    return {socket.error().code == 0 ? kUsage : 125, 0};
  }
  auto guardian = session::begin_tracing();
  if (!guardian) {
    return {125, 0};
  }
  Recording recording(options, own_argv, std::move(known_coverage), std::move(*filters),
                      std::move(*socket), *guardian);
  return recording.run();
}

}  // namespace sp::record
