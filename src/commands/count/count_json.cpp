#include <fmt/format.h>

#include <cmath>

#include "commands/count/count_text.h"
#include "profiler/formats/compact_json.h"

namespace sp::count {
namespace {

using profiler::CompactJson;

/// In nanoseconds, or as the type of the value has it.
void write_value(CompactJson& json, const core::CallQuery& query, std::uint64_t value) {
  if (query.measured && query.measured->type == core::ValueType::signed_number) {
    json.signed_number(static_cast<std::int64_t>(value));
  } else {
    json.number(value);
  }
}

void write_histogram(CompactJson& json, const core::ValueHistogram& histogram,
                     const core::CallQuery& query) {
  json.key("histogram").open('{');
  json.key("of").string(query.has_durations ? "ns"
                        : query.measured    ? value_name(*query.measured)
                                            : "");
  for (const auto& [name, percent] :
       {std::pair("p50", 50U), std::pair("p90", 90U), std::pair("p99", 99U)}) {
    write_value(json.key(name), query, histogram.percentile(percent));
  }
  write_value(json.key("max"), query, histogram.most());
  json.key("buckets").open('[');
  histogram.for_each([&](const core::ValueHistogram::Bucket& bucket) {
    json.open('[');
    write_value(json, query, bucket.least);
    write_value(json, query, bucket.most);
    json.number(bucket.count);
    json.close(']');
  });
  json.close(']');
  json.close('}');
}

void write_group(CompactJson& json, const GroupRow& group, const core::CallQuery& query) {
  json.open('{');
  for (std::size_t i = 0; i < query.values.size() && i < group.values.size(); ++i) {
    json.text_key(value_name(query.values[i])).string(group.values[i]);
  }
  if (query.by_caller) {
    json.key("caller").string(group.caller);
  }
  if (query.by_thread) {
    json.key("thread").string(group.thread);
  }
  json.key("calls").number(group.calls);
  json.count("tail_calls", group.tail_calls);
  if (group.measured.count() > 0) {
    write_histogram(json, group.measured, query);
  }
  json.close('}');
}

}  // namespace

std::string table_json(const Table& table, const TableStyle& style, double at) {
  std::string out;
  CompactJson json(out);
  json.open('{');
  json.key("at_ms").number(static_cast<std::uint64_t>(std::llround(at * 1e3)));
  json.key("interval_ms")
      .number(static_cast<std::uint64_t>(std::llround(core::seconds(table.interval) * 1e3)));
  json.key("functions").open('[');
  for (const FunctionRow& row : table.rows) {
    json.open('{');
    json.key("function").string(row.function);
    json.key("module").string(row.module);
    json.key("calls").number(row.calls);
    if (!style.query.conditions.empty()) {
      json.key("all_calls").number(row.all_calls);
    }
    json.key("kind").string(row.is_known ? profiler::kind_text(row.span, style.started)
                                         : std::string("at-most"));
    if (!style.query.is_plain()) {
      json.key("groups").open('[');
      for (const GroupRow& group : row.groups) {
        write_group(json, group, style.query);
      }
      json.close(']');
    }
    json.close('}');
  }
  json.close(']');
  json.count("ungrouped", table.ungrouped);
  json.close('}');
  return out + '\n';
}

}  // namespace sp::count
