#include "commands/top/top.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "commands/record/stage_options.h"
#include "commands/record/static_analysis.h"
#include "commands/session/session.h"
#include "commands/top/live_profile.h"
#include "commands/top/screen.h"
#include "commands/top/top_text.h"
#include "core/log.h"
#include "profiler/describe.h"
#include "profiler/symbol_namer.h"
#include "supervisor/linux/proc_files.h"

namespace sp::top {
namespace {

using std::chrono::milliseconds;

/// How often a key is looked for.
constexpr core::Duration kKeyPeriod = milliseconds(50);

class Top {
 public:
  Top(const cli::TopOptions& options, supervisor::Guardian& guardian)
      : options_(options),
        analysis_({options.run.only_funcs, options.run.only_instrument_execs,
                   options.run.debug_dirs, record::finds_references(options.run)}),
        session_({record::supervisor_options(options.run, analysis_),
                  record::instrumentation_policy(options.run),
                  {}},
                 guardian),
        namer_({options.run.debug_dirs, false, nullptr, false}),
        profile_(namer_, !options.run.no_instrumentation),
        guardian_(guardian) {}

  record::Ending run();

 private:
  /// The body of the consumer's thread.
  void watch();
  /// Asks for what was counted until now; its arrival ends the interval.
  void ask_for_table();
  void show_table();
  [[nodiscard]] core::RunFacts facts() const;
  [[nodiscard]] record::Ending ending() const;

  const cli::TopOptions& options_;
  record::StaticAnalysis analysis_;
  session::Session session_;
  profiler::SymbolNamer namer_;
  LiveProfile profile_;
  supervisor::Guardian& guardian_;
  std::optional<Screen> screen_;
  std::string command_;
  core::TimePoint started_;
  core::Duration target_cpu_{};  // when the interval began
  bool has_shown_ = false;
  bool is_over_ = false;
};

core::RunFacts Top::facts() const {
  core::RunFacts facts;
  session_.supervisor().fill(facts);
  facts.elapsed = core::Clock::now() - started_;
  return facts;
}

void Top::watch() {
  core::TimePoint next = core::Clock::now() + options_.interval;
  while (!session_.records().finished()) {
    auto record = session_.records().pop_until(std::min(next, core::Clock::now() + kKeyPeriod));
    if (record && std::holds_alternative<core::SnapshotWanted>(*record)) {
      show_table();
    } else if (record) {
      profile_.add(std::move(*record));
    }
    if (screen_->quit_was_pressed()) {
      session_.end();
    }
    if (core::Clock::now() >= next) {
      ask_for_table();
      next = core::Clock::now() + options_.interval;
    }
  }
  // The rest of a program that has ended.
  const bool has_run = !session_.supervisor().exec_failure();
  if (has_run && !is_over_ && (!has_shown_ || (!screen_->redraws() && profile_.has_samples()))) {
    show_table();
  }
}

void Top::ask_for_table() {
  ++session_.supervisor().user_requests().snapshots;
  session_.supervisor().wakeup().send();
}

void Top::show_table() {
  if (is_over_) {
    return;
  }
  const Table table = profile_.take_table(core::Clock::now(), options_.sort);
  Heading heading{command_, facts(), {}, options_.run.wall, !options_.run.no_instrumentation};
  heading.target_cpu = heading.facts.cost.target_cpu - target_cpu_;
  target_cpu_ = heading.facts.cost.target_cpu;
  const bool is_read =
      screen_->show(table_text(heading, table, screen_->lines(), screen_->columns()));
  has_shown_ = true;
  if (options_.once || !is_read) {
    is_over_ = true;
    session_.end();
  }
}

record::Ending Top::run() {
  supervisor::Supervisor& supervisor = session_.supervisor();
  if (const auto prepared = supervisor.prepare(); !prepared) {
    core::print_error(prepared.error().message);
    return {prepared.error().status, 0};
  }
  command_ = profiler::command_text(options_.run.launches_target()
                                        ? options_.run.command
                                        : supervisor::read_command_line(supervisor.pid()));
  // What is launched, a target or its load, owns stdout and the terminal.
  const bool launches = !options_.run.command.empty();
  screen_.emplace(launches ? STDERR_FILENO : STDOUT_FILENO, !launches && !options_.once, guardian_);
  started_ = core::Clock::now();
  session_.start("sp-top", [this] { watch(); });
  session_.run();
  const bool finished = session_.serve([&] { return supervisor.user_requests().interrupts > 2; });
  screen_->close();
  if (!finished) {
    ::_exit(ending().status != 0 ? ending().status : 130);
  }
  return ending();
}

record::Ending Top::ending() const {
  const auto& failure = session_.supervisor().exec_failure();
  if (failure) {
    core::print_error(failure->message);
    return {failure->status, 0};
  }
  const core::RunFacts now = facts();
  if (!options_.run.launches_target()) {
    return {};
  }
  return {now.end == core::RunEnd::target_exited ? now.exit_status.value_or(0) : 0,
          now.end == core::RunEnd::target_killed ? now.exit_signal.value_or(0) : 0};
}

}  // namespace

record::Ending run(const cli::TopOptions& options) {
  core::set_log_level(core::LogLevel::quiet);  // a note would be written across the table
  auto guardian = session::begin_tracing();
  if (!guardian) {
    return {125, 0};
  }
  return Top(options, *guardian).run();
}

}  // namespace sp::top
