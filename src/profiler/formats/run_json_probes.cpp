#include "profiler/formats/run_json_probes.h"

#include <chrono>

namespace sp::profiler {

void write_probes(JsonWriter& json, const RunReport& report) {
  json.key("probes");
  if (!report.facts.probing) {
    json.null();
    return;
  }
  const core::Probing& probing = *report.facts.probing;
  json.begin_object();
  json.key("kind").string("exact");
  json.key("functions").number(probing.functions);
  json.key("planted").number(probing.planted);
  json.key("derived").number(probing.derived);
  json.key("removed").number(probing.removed);
  json.key("hits").number(probing.hits);
  json.key("uncounted_programs").number(probing.uncounted_programs);
  json.key("windows").number(probing.windows);
  json.key("steps").number(probing.steps);
  json.key("branches").number(report.explored.branches);
  json.key("disagreements").number(report.explored.disagreements);
  json.key("cost_us").real(std::chrono::duration<double, std::micro>(probing.cost).count());
  json.key("copies").begin_object();
  json.key("functions").number(probing.copying.functions);
  json.key("dropped").number(probing.copying.dropped);
  json.key("executions").number(probing.copying.executions);
  json.key("branches").number(probing.copying.branches);
  json.key("arrivals").number(probing.copying.arrivals);
  json.key("transfers").number(probing.copying.transfers);
  json.key("refused").begin_object();
  for (const core::Copying::Refused& refused : probing.copying.refused) {
    json.key(refused.reason).number(refused.functions);
  }
  json.end_object();
  json.end_object();
  json.end_object();
}

namespace {

void write_traced_functions(JsonWriter& json, const RunReport& report) {
  json.key("functions_by_reason");
  if (!report.traced_functions) {
    json.null();
    json.key("entries").null();
    return;
  }
  json.begin_object();
  for (const auto& [reason, functions] : report.traced_functions->by_reason) {
    json.key(reason).number(functions);
  }
  json.end_object();
  json.key("entries").begin_object();
  json.key("checked").number(report.traced_functions->checked);
  json.key("disagreeing").number(report.traced_functions->disagreeing);
  json.end_object();
}

}  // namespace

void write_trace(JsonWriter& json, const RunReport& report) {
  json.key("trace");
  if (!report.facts.trace) {
    json.null();
    return;
  }
  const core::Tracing& trace = *report.facts.trace;
  json.begin_object();
  const bool is_whole = trace.too_hot == 0 && trace.learned == 0 && trace.overwritten == 0 &&
                        trace.lost == 0 && trace.cleared == 0 && trace.times_off == 0;
  json.key("kind").string(is_whole ? "exact" : "exact-until");
  json.key("events").number(trace.events);
  json.key("lost").number(trace.lost);
  json.key("functions_too_hot").number(trace.too_hot);
  json.key("functions_learned").number(trace.learned);
  json.key("functions_overwritten").number(trace.overwritten);
  json.key("cleared").number(trace.cleared);
  json.key("times_off").number(trace.times_off);
  json.key("size_limit_reached").boolean(trace.is_full);
  json.key("min_duration_ns").number(static_cast<std::uint64_t>(trace.choice.min_duration.count()));
  json.key("max_depth").number(trace.choice.max_depth);
  write_traced_functions(json, report);
  json.end_object();
}

void write_coverage(JsonWriter& json, const RunReport& report) {
  json.key("coverage");
  if (!report.coverage) {
    json.null();
    return;
  }
  json.begin_object();
  json.key("kind").string(report.coverage->kind);
  json.key("functions").number(report.coverage->functions);
  json.key("functions_entered").number(report.coverage->entered);
  json.key("blocks").number(report.coverage->blocks);
  json.key("blocks_reached").number(report.coverage->reached);
  if (report.lines && !report.coverage->only_functions) {
    json.key("lines").number(report.lines->lines);
    json.key("lines_executed").number(report.lines->lines_hit);
  }
  json.end_object();
}

}  // namespace sp::profiler
