#include "commands/record/stage_options.h"

#include <cstdlib>

#include "arch/native.h"
#include "commands/record/instrument_choice.h"
#include "commands/run_files/coverage_sources.h"
#include "core/clock.h"
#include "core/log.h"
#include "profiler/push/http_post.h"

namespace sp::record {
namespace {

std::optional<profiler::EmitOptions> emit_options(const cli::RecordOptions& options) {
  if (!options.tree || !options.tree->emit) {
    return std::nullopt;
  }
  const cli::EmitTo& emit = *options.tree->emit;
  profiler::EmitOptions out{.path = emit.path,
                            .fd = emit.fd,
                            .every = emit.every,
                            .has_names = emit.has_names,
                            .labels = emit.labels};
  if (emit.budget_bytes > 0) {
    out.limit = {emit.budget_bytes, emit.budget_time};
  }
  return out;
}

std::optional<profiler::PushOptions> push_options(const cli::RecordOptions& options) {
  if (!options.push) {
    return std::nullopt;
  }
  return profiler::PushOptions{options.push->url, options.push->every, options.push->labels,
                               options.push->token};
}

}  // namespace

supervisor::SupervisorOptions supervisor_options(const cli::RecordOptions& options,
                                                 supervisor::CodeAnalysis& analysis) {
  supervisor::SupervisorOptions out;
  out.command = options.command;
  out.pids = options.pids;
  out.follow_forks = options.follow.fork;
  out.follow_exec = options.follow.exec;
  out.all_threads = options.all_threads;
  out.names_threads = options.single == cli::Single::off;
  out.no_aslr = options.no_aslr;
  out.is_in_parts = options.split.has_value();
  out.reports_crashes = true;
  out.make_instrument = choose_instrument(options, analysis);
  out.timer.sample = options.single == cli::Single::off;
  out.sampler = {options.trace_probability, options.wall};
  out.timer.interval = options.interval;
  out.timer.holds_cpus = options.coverage != core::Coverage::off || options.trace || options.tree ||
                         options.calls ||
                         (options.allow_bottlenecking && !options.no_instrumentation);
  out.timer.overhead_percent = options.overhead_percent;
  out.timer.stop_with = options.stop_with == cli::StopWith::interrupt
                            ? supervisor::StopWith::interrupt
                            : supervisor::StopWith::sigstop;
  out.timer.wall = options.wall;
  out.timer.delay = options.delay;
  out.timer.duration = options.duration.value_or(core::Duration{});
  return out;
}

std::optional<analyzer::InstrumentationPolicy> instrumentation_policy(
    const cli::RecordOptions& options) {
  if (options.single != cli::Single::off || options.no_instrumentation) {
    return std::nullopt;
  }
  return analyzer::InstrumentationPolicy(options.func_instrumentation_depth);
}

bool makes_copies(const cli::RecordOptions& options) {
  if (!arch::Native::kHasCopies || options.no_copies) {
    return false;
  }
  return options.sees_calls() ? options.traces_in_copies() && arch::Native::kHasCounterSegment
                              : arch::Native::kHasCounterSegment || options.allow_bottlenecking ||
                                    options.overhead_percent == 0;
}

bool finds_references(const cli::RecordOptions& options) {
  return options.single == cli::Single::off && !options.no_instrumentation &&
         makes_copies(options) && options.coverage != core::Coverage::function && !options.derive;
}

int check_reader(const cli::RecordOptions& options) {
  if (const auto can_post = options.push ? profiler::check_http() : core::Result<void>{};
      !can_post) {
    core::print_error("--push: " + can_post.error().message());
    return 125;
  }
  ::unsetenv(cli::kPushToken);  // a launched target has no business with it
  const auto emit = emit_options(options);
  if (!emit) {
    return 0;
  }
  const auto note = profiler::check_reader(*emit);
  if (!note) {
    constexpr int kUsage = 2;
    core::print_error(note.error().message());
    return note.error().code == 0 ? kUsage : 125;
  }
  if (!note->empty()) {
    core::print_note(*note);
  }
  return 0;
}

void add_choice(const cli::RecordOptions& options, core::RunFacts& facts) {
  if (options.trace && facts.trace) {
    facts.trace->choice = {options.trace->when_full, options.trace->min_duration,
                           options.trace->max_depth};
  }
}

profiler::ProfilerOptions profiler_options(const cli::RecordOptions& options) {
  profiler::ProfilerOptions out;
  out.flame = options.flame;
  out.by_thread = options.by_thread;
  out.wall = options.wall;
  out.counting = options.single != cli::Single::off        ? profiler::Counting::exact
                 : options.no_instrumentation              ? profiler::Counting::none
                 : options.coverage != core::Coverage::off ? profiler::Counting::covered
                 : options.trace                           ? profiler::Counting::traced
                 : options.tree                            ? profiler::Counting::treed
                                                           : profiler::Counting::probed;
  out.coverage = options.coverage;
  out.counts_inside = !options.toggle_collect.empty();
  out.trace_bytes = options.trace ? options.trace->most_bytes : 0;
  out.learns = options.learn.has_value();
  out.traces_all_calls = options.trace && options.trace->min_duration == core::Duration{} &&
                         options.trace->max_depth == 0 && !options.split;
  out.emit = emit_options(options);
  out.push = push_options(options);
  out.source_maps = run_files::source_maps(options.source_maps);
  if (!options.launches_target() || options.delay.count() > 0) {
    out.counted_since = options.delay;
  }
  return out;
}

}  // namespace sp::record
