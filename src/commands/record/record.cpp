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
#include "commands/record/code_analysis.h"
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
#include "supervisor/unwinding/stack_resolver.h"

namespace sp::session {
namespace {

// A sample is up to a megabyte where stacks are deep; 16 to 64 KiB as a rule.
constexpr std::size_t kEventsQueued = 1024;
constexpr std::size_t kRecordsQueued = 16384;  // opening a large debug file takes seconds
constexpr std::size_t kRequestsQueued = 256;

/// The supervisor's resolver behind the analyzer's interface: the two may not know each other.
class ResolverSource final : public analyzer::StackSource {
 public:
  ResolverSource() : resolver_(supervisor::StackResolverOptions{}) {}

  void process_started(core::ProcessId process, core::ProcessId parent) override {
    resolver_.process_started(process, parent);
  }
  void process_ended(core::ProcessId process) override { resolver_.process_ended(process); }
  void set_maps(core::ProcessId process, core::ThreadId thread,
                std::vector<core::Mapping> maps) override {
    resolver_.set_maps(process, thread.tid, std::move(maps));
  }
  core::Stack resolve(core::ProcessId process, core::ThreadId thread,
                      const core::RawStack& raw) override {
    return resolver_.resolve(process, thread.tid, raw);
  }
  core::ModuleOffset locate(core::ProcessId process, core::Address address) override {
    return resolver_.locate(process, address);
  }
  std::optional<core::Address> address_of(core::ProcessId process,
                                          core::ModuleOffset where) override {
    return resolver_.address_of(process, where);
  }
  std::vector<core::Module> take_new_modules() override { return resolver_.take_new_modules(); }

 private:
  supervisor::StackResolver resolver_;
};

supervisor::SupervisorOptions supervisor_options(const cli::RecordOptions& options,
                                                 supervisor::CodeMaps& maps) {
  supervisor::SupervisorOptions out;
  out.command = options.command;
  out.pid = options.pid;
  out.follow_forks = options.follow.fork;
  out.follow_exec = options.follow.exec;
  out.all_threads = options.all_threads;
  out.no_aslr = options.no_aslr;
  if (options.single != cli::Single::off) {
    out.exact = supervisor::ExactOptions{options.single == cli::Single::plant};
    out.timer.sample = false;
  }
  if (options.single == cli::Single::off && !options.no_instrumentation) {
    out.probing = supervisor::ProbeOptions{&maps, options.overhead_percent,
                                           options.allow_bottlenecking, options.derive};
  }
  out.sampler = {options.trace_probability, options.wall};
  out.timer.interval = options.interval;
  out.timer.overhead_percent = options.overhead_percent;
  out.timer.stop_with = options.stop_with == cli::StopWith::interrupt
                            ? supervisor::StopWith::interrupt
                            : supervisor::StopWith::sigstop;
  out.timer.wall = options.wall;
  out.timer.delay = options.delay;
  out.timer.duration = options.duration.value_or(core::Duration{});
  return out;
}

std::optional<analyzer::PlantPolicy> planting(const cli::RecordOptions& options) {
  if (options.single != cli::Single::off || options.no_instrumentation) {
    return std::nullopt;
  }
  return analyzer::PlantPolicy(options.func_instrumentation_depth);
}

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

/// One run's parts, in the order in which they depend on each other.
class Session {
 public:
  Session(const cli::RecordOptions& options, const std::vector<std::string>& own_argv,
          supervisor::Guardian& guardian)
      : options_(options),
        events_(kEventsQueued),
        records_(kRecordsQueued),
        requests_(kRequestsQueued),
        maps_({options.only_funcs, options.only_instrument_execs, options.debug_dirs}),
        supervisor_(supervisor_options(options, maps_), guardian, events_, requests_),
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
  [[nodiscard]] Ending ending() const;

  const cli::RecordOptions& options_;
  core::Channel<core::StopEvent> events_;
  core::Channel<core::Record> records_;
  core::Channel<core::Request> requests_;
  KnownCode maps_;
  supervisor::Supervisor supervisor_;
  StatusLine status_line_;
  core::RunFacts facts_;
  core::TimePoint started_;
  std::optional<core::Duration> elapsed_;
  profiler::Profiler* profiler_ = nullptr;                   // while the profiler thread runs
  std::promise<std::optional<core::RunFacts>> final_facts_;  // nothing: there was no run
  core::Result<profiler::WrittenRun> written_{core::fail("nothing was written")};
  std::atomic<bool> written_out_{false};
};

pid_t own_tid() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

core::RunFacts Session::facts() const {
  core::RunFacts facts = facts_;
  supervisor_.fill(facts);
  facts.elapsed = elapsed_.value_or(core::Clock::now() - started_);
  return facts;
}

void Session::show_status() {
  const core::RunFacts now = facts();
  const auto& progress = profiler_->progress();
  status_line_.show({now.elapsed, progress.samples(), progress.blocked, now.losses.samples_dropped,
                     now.cost.overhead_percent, now.cost.mean_interval});
}

/// The profiler thread's life.
void Session::profile(profiler::RunDirectory directory, std::promise<pid_t>& tid) {
  ::prctl(PR_SET_NAME, "sp-profiler");
  tid.set_value(own_tid());
  profiler::ProfilerOptions profiler_options;
  profiler_options.flame = options_.flame;
  profiler_options.by_thread = options_.by_thread;
  profiler_options.wall = options_.wall;
  profiler_options.counting = options_.single != cli::Single::off ? profiler::Counting::exact
                              : options_.no_instrumentation       ? profiler::Counting::none
                                                                  : profiler::Counting::probed;
  if (options_.pid || options_.delay.count() > 0) {
    profiler_options.counted_since = options_.delay;
  }
  profiler_options.started = started_;
  profiler_options.version = SP_VERSION;
  profiler_options.facts_now = [this] { return facts(); };
  profiler_options.on_tick = [this] { show_status(); };
  symbols::SymbolizerOptions symbolizer;
  symbolizer.debug_directories = options_.debug_dirs;
  profiler::Profiler profiler(std::move(profiler_options), records_,
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
  supervisor_.doorbell().ring();
}

Ending Session::run() {
  std::optional<profiler::RunDirectory> directory;
  const auto make_directory = [&](pid_t pid) {
    facts_.name = run_name(options_, pid);
    auto made = profiler::RunDirectory::create(options_.output, facts_.name, options_.overwrite);
    if (made) {
      directory.emplace(std::move(*made));
      return true;
    }
    core::print_error(made.error().message());
    return false;
  };
  // What is in the way of the results must be known before anything is done to a process.
  if (options_.pid && !make_directory(*options_.pid)) {
    return {125, 0};
  }
  if (const auto prepared = supervisor_.prepare(); !prepared) {
    core::print_error(prepared.error().message);
    return {prepared.error().status, 0};
  }
  if (!options_.pid && !make_directory(supervisor_.pid())) {
    return {125, 0};
  }
  facts_.command =
      options_.pid ? supervisor::read_command_line(supervisor_.pid()) : options_.command;
  facts_.started_at = std::chrono::system_clock::now();
  started_ = core::Clock::now();

  std::promise<pid_t> profiler_tid;
  std::promise<pid_t> analyzer_tid;
  std::jthread profiler_thread([&] { profile(std::move(*directory), profiler_tid); });
  std::jthread analyzer_thread([&] {
    ::prctl(PR_SET_NAME, "sp-analyzer");
    analyzer_tid.set_value(own_tid());
    analyzer::Analyzer analyzer(
        std::make_unique<ResolverSource>(), events_, records_, requests_,
        [this] {
          supervisor_.wishes().requests = true;
          supervisor_.doorbell().ring();
        },
        planting(options_));
    analyzer.run();
  });
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
    final_facts_.set_value(facts());
  }
  // A third Ctrl-C gives up writing.
  supervisor_.serve([this] { return written_out_ || supervisor_.wishes().interrupts > 2; });
  if (!written_out_) {
    core::print_error("interrupted: results not written");
    ::_exit(ending().status != 0 ? ending().status : 130);
  }
  profiler_thread.join();
  return ending();
}

Ending Session::ending() const {
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

Ending record(const cli::RecordOptions& options, const std::vector<std::string>& own_argv) {
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
  Session session(options, own_argv, *guardian);
  return session.run();
}

}  // namespace sp::session
