#include "profiler/profiler.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/log.h"
#include "core/progress_line.h"
#include "profiler/coverage_files.h"
#include "profiler/describe.h"
#include "profiler/formats/blocks_tsv.h"
#include "profiler/formats/flamegraph_svg.h"
#include "profiler/formats/folded.h"
#include "profiler/formats/functions_tsv.h"
#include "profiler/formats/run_json.h"
#include "profiler/output_files.h"
#include "profiler/pc_samples.h"
#include "profiler/push/http_post.h"
#include "profiler/trace_files.h"

namespace sp::profiler {
namespace {

constexpr std::size_t kTopFunctions = 50;
constexpr std::size_t kTopBlocks = 50;
constexpr core::Duration kLongestPost = std::chrono::seconds(30);

Output flame_output(const core::RunFacts& facts, const NamedProfile& named, bool wall) {
  return {std::string(kFlameGraph), [&facts, &named, wall](std::ostream& out) {
            write_flamegraph_svg(out, named,
                                 {title_text(facts), subtitle_text(facts, named.counts, wall)});
          }};
}

}  // namespace

Profiler::Profiler(ProfilerOptions options, core::Channel<core::Record>& records,
                   std::unique_ptr<Namer> namer, RunDirectory directory)
    : options_(std::move(options)),
      records_(records),
      namer_(std::move(namer)),
      reused_(*namer_, [this](const core::ModuleSeen& seen) { take(core::Record(seen)); }),
      parts_(options_.split, options_.started),
      directory_(std::make_unique<RunDirectory>(std::move(directory))),
      profile_(options_.by_thread, options_.max_nodes),
      trace_(
          *directory_, options_.started, [this] { return facts_now(); }, options_.trace_bytes) {
  begin_part(std::move(directory_));
  if (options_.counting == Counting::treed) {
    tree_.emplace(
        TreeRecorder::Options{options_.by_thread, options_.wall, options_.started, options_.version,
                              options_.facts_now, options_.planned_functions, options_.emit},
        *namer_);
  }
  if (options_.push) {
    push_ = std::make_unique<Pusher>(
        *options_.push,
        Pusher::Run{options_.by_thread, options_.wall, options_.started, options_.version,
                    options_.facts_now},
        [](const HttpRequest& request, const std::function<bool()>& is_over) {
          return http_post(request, kLongestPost, is_over);
        });
  }
}

void Profiler::run() {
  const core::Duration interval = tree_ ? tree_->interval(options_.tick) : options_.tick;
  core::TimePoint next_tick = core::Clock::now() + interval;
  while (true) {
    std::optional<core::Record> record = records_.pop_until(next_tick);
    if (record) {
      take(std::move(*record));
    } else if (records_.finished()) {
      return;
    }
    if (core::Clock::now() >= next_tick) {
      tick();
      next_tick = core::Clock::now() + interval;
    }
  }
}

void Profiler::tick() {
  const core::TimePoint now = core::Clock::now();
  recorder_->tick(profile_, now);
  trace_.tick(now);
  parts_.tick(now, recorder_->bytes() + trace_.bytes());
  if (tree_) {
    tree_->tick(now);
  }
  if (push_) {
    push_->tick(now, *namer_);
  }
  if (options_.on_tick && now >= next_status_) {
    next_status_ = now + options_.tick;
    options_.on_tick();
  }
}

void Profiler::take(core::Record&& record) {
  std::visit(
      [this](const auto& detail) {
        using Detail = std::decay_t<decltype(detail)>;
        if constexpr (std::is_same_v<Detail, core::SnapshotWanted>) {
          write_snapshot();
        } else if constexpr (std::is_same_v<Detail, core::TraceRequest>) {
          serve(detail);
        } else if constexpr (std::is_same_v<Detail, core::SampleTaken> ||
                             std::is_same_v<Detail, core::CrashSeen>) {
          take(detail);
        } else if constexpr (std::is_same_v<Detail, core::CodeCountsTaken>) {
          code_.add(detail);
        } else if constexpr (std::is_same_v<Detail, core::TraceEventsTaken>) {
          tree_ ? tree_->add(detail) : trace_.add(detail, profile_);
        } else if constexpr (std::is_same_v<Detail, core::ProbeCountsTaken> ||
                             std::is_same_v<Detail, core::CodeExplored>) {
          probed_.add(detail);
        } else if constexpr (std::is_same_v<Detail, core::CallCountsTaken>) {
          // of `superprofiler count` alone
        } else if constexpr (std::is_same_v<Detail, core::ThreadSeen>) {
          parts_.note(detail);
          recorder_->thread_changed(profile_.add(detail));
        } else if constexpr (std::is_same_v<Detail, core::ModuleSeen>) {
          recorder_->module_changed(profile_.add(detail));
        } else {
          profile_.add(detail);
        }
        if constexpr (std::is_same_v<Detail, core::ModuleSeen> ||
                      std::is_same_v<Detail, core::SamplesLost>) {
          if (tree_) {
            tree_->add(detail);
          }
        }
        if constexpr (std::is_same_v<Detail, core::ModuleSeen> ||
                      std::is_same_v<Detail, core::ThreadSeen>) {
          if (push_) {
            push_->add(detail);
          }
        }
        if constexpr (std::is_same_v<Detail, core::ModuleSeen>) {
          namer_->add_module(detail.module);
          reused_.add(detail.module);
          if (detail.module.kind == core::ModuleKind::file) {
            unopened_.insert(detail.module.id);
          }
        } else if constexpr (std::is_same_v<Detail, core::SamplesLost>) {
          progress_.lost += detail.samples;
        }
      },
      record);
}

core::Result<WrittenRun> Profiler::finish(const core::RunFacts& facts) {
  const core::ProgressLine progress("naming functions");
  namer_->ask_server();
  const core::RunFacts of_part = parts_.facts_of(facts, trace_.events());
  auto written = write_files(of_part, false);
  if (written && parts_.is_split()) {
    written->last_part = of_part;
  }
  if (tree_) {
    tree_->finish(facts);
  }
  if (push_ && !push_->finish(facts, *namer_)) {
    core::log_note("--push: the server has not got everything; recording.sp has it");
  }
  return written;
}

core::Result<WrittenRun> Profiler::write_files(const core::RunFacts& facts, bool snapshot) {
  NamedProfile named = name_profile(profile_, *namer_);
  const std::optional<NamedCode> code = named_code(facts);
  if (code) {
    add_calls(named.functions, *code, profile_.modules());
  }
  const CountsContext context = counts_context();
  const std::vector<Function> functions = ranked(named.functions);
  const bool has_blocks = code && options_.counting != Counting::traced && !tree_;
  RunReport run = report(facts, snapshot, has_blocks ? &*code : nullptr);
  // The smallest first: they may still fit on a disk that is nearly full.
  std::vector<Output> outputs = {
      {"run.json", [&](std::ostream& out) { write_run_json(out, run); }},
      {"functions.tsv", [&](std::ostream& out) { write_functions_tsv(out, functions, context); }},
      {"stacks.folded", [&](std::ostream& out) { write_folded(out, named); }}};
  if (options_.flame) {
    outputs.push_back(flame_output(facts, named, options_.wall));
  }
  if (has_blocks) {
    outputs.push_back(
        {std::string(kBlocks), [&](std::ostream& out) { write_blocks_tsv(out, *code, context); }});
    outputs.push_back(
        {std::string(kEdges), [&](std::ostream& out) { write_edges_tsv(out, *code, context); }});
  }
  WrittenRun written{
      .directory = directory_->path(), .counts = named.counts, .wall = options_.wall};
  if (options_.counting == Counting::covered) {
    CoverageFiles coverage = coverage_files(probed_, *namer_, context, options_.coverage,
                                            options_.source_maps, options_.version);
    run.coverage = written.coverage = coverage.totals;
    run.lines = written.lines = coverage.lines;
    for (auto& [name, writer] : coverage.files) {
      outputs.push_back({name, std::move(writer)});
    }
  }
  if (has_blocks) {
    written.code = summed_up(*code, context, kTopBlocks);
  }
  const std::size_t top = std::min(kTopFunctions, functions.size());
  written.top.assign(functions.begin(), functions.begin() + static_cast<std::ptrdiff_t>(top));
  if (tree_) {
    outputs.push_back(tree_->output(facts, snapshot, profile_));
    written.tree = tree_->totals();
  }
  run.files = names_of_files(outputs);
  if (options_.counting == Counting::traced) {
    write_trace_files({trace_, *directory_, profile_, *namer_, options_.learns,
                       options_.traces_all_calls && code ? &*code : nullptr},
                      run, options_.traced_functions, written);
  }
  std::vector<Output> failed = write_outputs(*directory_, std::move(outputs), written);
  record_set(run, named, written, failed);
  crashes_->complete(written.crashes, written.files, written.failures);
  if (!failed.empty() && !snapshot) {
    write_to_fallback(failed, facts.name, written);
  }
  if (written.files.empty()) {
    return tl::unexpected(written.failures.front());
  }
  return written;
}

RunReport Profiler::report(const core::RunFacts& facts, bool snapshot,
                           const NamedCode* code) const {
  return {.facts = facts,
          .version = options_.version,
          .snapshot = snapshot,
          .by_thread = options_.by_thread,
          .wall = options_.wall,
          .counts = profile_.counts(),
          .code = code,
          .counts_context = counts_context(),
          .explored = probed_.explored(),
          .modules = profile_.modules(),
          .processes = profile_.processes(),
          .unlisted_processes = profile_.unlisted_processes()};
}

void Profiler::record_set(const RunReport& report, const NamedProfile& named, WrittenRun& written,
                          std::vector<Output>& failed) {
  const Recorder::State state = recorded_state(report, &named);
  auto file = recorder_->write_set(profile_, state, !report.snapshot);
  if (file) {
    written.files.push_back(std::move(*file));
    return;
  }
  written.failures.push_back(std::move(file.error()));
  failed.push_back({std::string(Recorder::kFile), [this, state](std::ostream& out) {
                      write_recording(out, profile_, parts_.started(), state);
                    }});
}

std::optional<NamedCode> Profiler::named_code(const core::RunFacts& facts) const {
  switch (options_.counting) {
    case Counting::none:
    case Counting::covered:
      return std::nullopt;
    case Counting::exact:
      return name_code(code_, *namer_, facts.threads, options_.counts_inside);
    case Counting::probed:
    case Counting::traced:
    case Counting::treed:
      return name_code(probed_, pc_samples(profile_), *namer_, facts.threads);
  }
  return std::nullopt;
}

CountsContext Profiler::counts_context() const {
  CountsContext context{profile_.modules(), {}, parts_.started()};
  if (!parts_.is_first()) {
    context.counted.since = parts_.started();
  } else if (options_.counted_since) {
    context.counted.since = options_.started + *options_.counted_since;
  }
  return context;
}

}  // namespace sp::profiler
