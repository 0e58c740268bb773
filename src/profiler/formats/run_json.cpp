#include "profiler/formats/run_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <string_view>

#include "profiler/file_descriptions.h"
#include "profiler/formats/json_writer.h"
#include "profiler/formats/run_json_probes.h"

namespace sp::profiler {
namespace {

constexpr int kFormatVersion = 1;

/// "2024-05-31T12:00:00.123Z"
std::string utc(std::chrono::system_clock::time_point time) {
  using std::chrono::milliseconds;
  const auto since_epoch = std::chrono::floor<milliseconds>(time.time_since_epoch());
  const auto whole = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const auto seconds = static_cast<std::time_t>(whole.count());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     (since_epoch - whole).count());
}

std::string_view word(core::RunEnd end) {
  switch (end) {
    case core::RunEnd::target_exited:
      return "target_exited";
    case core::RunEnd::target_killed:
      return "target_killed";
    case core::RunEnd::detached:
      return "detached";
    case core::RunEnd::split:
      return "split";
  }
  return "unknown";
}

std::string_view word(core::ModuleKind kind) {
  switch (kind) {
    case core::ModuleKind::file:
      return "file";
    case core::ModuleKind::vdso:
      return "vdso";
    case core::ModuleKind::jit:
      return "jit";
    case core::ModuleKind::unknown:
      return "unknown";
  }
  return "unknown";
}

void write_strings(JsonWriter& json, std::span<const std::string> strings) {
  json.begin_array();
  for (const std::string& text : strings) {
    json.string(text);
  }
  json.end_array();
}

void write_optional(JsonWriter& json, std::string_view key, std::optional<int> value) {
  json.key(key);
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void write_target(JsonWriter& json, const RunReport& report) {
  const core::RunFacts& facts = report.facts;
  json.key("name").string(facts.name);
  json.key("command");
  write_strings(json, facts.command);
  json.key("launched").boolean(facts.launched);
  json.key("pid").number(facts.pid);
  json.key("options");
  write_strings(json, facts.options);
  json.key("host_arch").string(facts.host_arch);
}

void write_times(JsonWriter& json, const RunReport& report) {
  const core::RunFacts& facts = report.facts;
  json.key("started_at").string(utc(facts.started_at));
  json.key("ended_at")
      .string(utc(facts.started_at +
                  std::chrono::duration_cast<std::chrono::system_clock::duration>(facts.elapsed)));
  json.key("elapsed_seconds").real(core::seconds(facts.elapsed));
  json.key("end").string(report.snapshot ? "running" : word(facts.end));
  if (facts.part > 0) {
    json.key("part").number(facts.part);
  }
  write_optional(json, "exit_status", facts.exit_status);
  write_optional(json, "exit_signal", facts.exit_signal);
}

void write_samples(JsonWriter& json, const RunReport& report) {
  const SampleCounts& counts = report.counts;
  json.key("samples").begin_object();
  json.key("kind").string("sampled");
  json.key("clock").string(report.wall ? "wall" : "on-cpu");
  json.key("by_thread").boolean(report.by_thread);
  json.key("total").number(counts.total());
  json.key("on_cpu").number(counts.on_cpu);
  json.key("blocked").number(counts.blocked);
  json.key("with_stack").number(counts.with_stack);
  json.key("pc_only").number(counts.total() - counts.with_stack);
  json.key("collapsed").number(counts.collapsed);
  json.key("truncated").number(counts.truncated);
  json.key("truncated_by").begin_object();
  for (std::size_t i = 1; i < counts.ends.size(); ++i) {
    json.key(word_of(static_cast<core::StackEnd>(i))).number(counts.ends.at(i));
  }
  json.end_object();
  json.end_object();
}

/// The number of blocks counted over the whole run, without its start, without its end, or both.
void write_block_kinds(JsonWriter& json, const RunReport& report) {
  std::array<std::uint64_t, 4> kinds{};
  for (const NamedBlock& row : report.code->blocks) {
    const CountedSpan span = shared(report.counts_context.counted, row.block.span);
    ++kinds.at((span.since ? 1U : 0U) + (span.until ? 2U : 0U));
  }
  json.key("blocks_by_kind").begin_object();
  json.key("exact").number(kinds[0]);
  json.key("since").number(kinds[1]);
  json.key("until").number(kinds[2]);
  json.key("since_and_until").number(kinds[3]);
  json.end_object();
}

void write_code(JsonWriter& json, const RunReport& report) {
  json.key("counts");
  if (report.code == nullptr) {
    json.null();
    return;
  }
  const NamedCode& code = *report.code;
  json.begin_object();
  json.key("kind").string(kind_of_all(code, report.counts_context));
  if (code.by_probes) {
    write_block_kinds(json, report);
  }
  json.key("blocks").number(code.blocks.size());
  json.key("edges").number(code.edges.size());
  json.key("functions").number(code.functions.size());
  json.key("executions").number(code.executions);
  json.key("instructions").number(code.instructions);
  json.key("lost_hits").number(code.lost_hits);
  json.key("consistency").begin_object();
  json.key("checked").number(code.consistency.checked);
  json.key("disagreeing").number(code.consistency.disagreeing);
  json.key("never_left").number(code.consistency.never_left);
  json.key("unfinished").number(code.consistency.unfinished);
  json.end_object();
  json.end_object();
}

void write_losses(JsonWriter& json, const RunReport& report) {
  const core::SupervisorLosses& losses = report.facts.losses;
  json.key("losses").begin_object();
  json.key("kind").string("exact");
  // Both count the same lost samples but arrive on different ways; in a snapshot one may lag.
  json.key("samples_dropped").number(std::max(losses.samples_dropped, report.counts.lost));
  json.key("ticks_while_stop_in_flight").number(losses.ticks_while_stop_in_flight);
  json.key("blocked_before_stop").number(losses.blocked_before_stop);
  json.key("waited_for_cpu").number(losses.waited_for_cpu);
  json.key("unfollowed_processes").number(losses.unfollowed_processes);
  json.end_object();
}

void write_cost(JsonWriter& json, const core::Cost& cost) {
  const auto us = [&json](std::string_view key, core::Duration value) {
    json.key(key).real(std::chrono::duration<double, std::micro>(value).count());
  };
  json.key("cost").begin_object();
  json.key("kind").string("measured");
  json.key("stops").number(cost.stops);
  if (cost.is_share_known) {
    us("stopped_us", cost.stopped);
    us("longest_stop_us", cost.longest_stop);
    us("counting_us", cost.counting);
    us("target_cpu_us", cost.target_cpu);
    json.key("overhead_percent").real(cost.overhead_percent);
    json.key("overhead_is_minimum").boolean(cost.is_share_minimum);
  } else {
    for (const char* key : {"stopped_us", "longest_stop_us", "counting_us", "target_cpu_us",
                            "overhead_percent", "overhead_is_minimum"}) {
      json.key(key).null();
    }
  }
  json.key("budget_percent").real(cost.budget_percent);
  us("requested_interval_us", cost.requested_interval);
  us("mean_interval_us", cost.mean_interval);
  json.end_object();
}

void write_processes(JsonWriter& json, const RunReport& report) {
  json.key("process_count").number(report.facts.processes);
  json.key("thread_count").number(report.facts.threads);
  json.key("unlisted_processes").number(report.unlisted_processes);
  json.key("processes").begin_array();
  for (const core::ProcessSeen& seen : report.processes) {
    json.begin_object();
    json.key("pid").number(seen.process.pid);
    json.key("serial").number(seen.process.serial);
    json.key("parent").number(seen.parent.pid);
    json.key("command").string(seen.command);
    json.end_object();
  }
  json.end_array();
}

void write_modules(JsonWriter& json, std::span<const core::Module> modules) {
  json.key("modules").begin_array();
  for (const core::Module& module : modules) {
    json.begin_object();
    json.key("path").string(module.path);
    json.key("kind").string(word(module.kind));
    json.key("build_id").string(module.build_id);
    json.key("base").string(fmt::format("{:#x}", module.base.value()));
    json.key("pid").number(module.process.pid);
    json.key("deleted").boolean(module.deleted);
    json.end_object();
  }
  json.end_array();
}

void write_files(JsonWriter& json, std::span<const std::string> files) {
  json.key("files").begin_array();
  for (const std::string& name : files) {
    json.begin_object();
    json.key("name").string(name);
    json.key("what").string(describe_file(name));
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string_view word_of(core::StackEnd end) {
  constexpr std::array<std::string_view, 5> kWords = {"root", "copy_ended", "no_unwind_info",
                                                      "bad_memory", "too_deep"};
  return kWords.at(static_cast<std::size_t>(end));
}

void write_run_json(std::ostream& out, const RunReport& report) {
  JsonWriter json(out);
  json.begin_object();
  json.key("format_version").number(kFormatVersion);
  json.key("superprofiler_version").string(report.version);
  write_target(json, report);
  write_times(json, report);
  write_samples(json, report);
  write_code(json, report);
  write_probes(json, report);
  write_coverage(json, report);
  write_trace(json, report);
  write_losses(json, report);
  write_cost(json, report.facts.cost);
  json.key("notes");
  write_strings(json, report.facts.notes);
  write_processes(json, report);
  write_modules(json, report.modules);
  write_files(json, report.files);
  json.end_object();
}

}  // namespace sp::profiler
