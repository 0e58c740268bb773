#include "profiler/formats/tree_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <sstream>
#include <utility>

#include "profiler/formats/json_writer.h"

namespace sp::profiler {
namespace {

constexpr int kTreeFormatVersion = 1;

void write_tree_facts(JsonWriter& json, const TreeReport& report) {
  const core::RunFacts& facts = report.facts;
  json.key("format_version").number(kTreeFormatVersion);
  json.key("superprofiler_version").string(report.version);
  json.key("name").string(facts.name);
  json.key("command").begin_array();
  for (const std::string& word : facts.command) {
    json.string(word);
  }
  json.end_array();
  json.key("pid").number(facts.pid);
  json.key("host_arch").string(facts.host_arch);
  json.key("elapsed_seconds").real(core::seconds(facts.elapsed));
  json.key("finished").boolean(!report.snapshot);
  json.key("by_thread").boolean(report.by_thread);
}

/// Functions whose calls were not seen to the end.
void write_ended(JsonWriter& json, const TreeReport& report, const ContextTree& tree, TreeIds& ids,
                 const NodeTexts& texts) {
  json.key("seen_until").begin_array();
  for (const TreeFunctions::Function& function : tree.functions().all()) {
    if (!function.until) {
      continue;
    }
    json.begin_object();
    json.key("function").string(fmt::format("{}", ids.function(function.start)));
    json.key("name").string(texts.name ? texts.name(function.start) : "");
    json.key("kind").string(
        fmt::format("exact-until:{:.3f}", core::seconds(*function.until - report.started)));
    json.end_object();
  }
  json.end_array();
}

void write_tree_numbers(JsonWriter& json, const TreeReport& report, const ContextTree& tree,
                        TreeIds& ids, const NodeTexts& texts) {
  const ContextTree::Totals& totals = tree.totals();
  json.key("calls").begin_object();
  const std::uint64_t times_off = report.facts.trace ? report.facts.trace->times_off : 0;
  json.key("kind").string(times_off > 0 ? "mixed" : kind_of_calls(tree));
  json.key("total").number(totals.calls.calls);
  json.key("folded").number(totals.calls.folded);
  json.key("collapsed").number(totals.calls.collapsed);
  json.key("lost_events").number(totals.lost_events);
  if (times_off > 0) {
    json.key("times_off").number(times_off);
  }
  write_ended(json, report, tree, ids, texts);
  json.end_object();
  json.key("samples").begin_object();
  json.key("kind").string("sampled");
  json.key("clock").string(report.wall ? "wall" : "on-cpu");
  json.key("total").number(totals.samples);
  json.key("truncated").number(totals.truncated);
  json.key("pc_only").number(totals.without_stack);
  json.key("folded").number(totals.folded_samples);
  json.key("collapsed").number(totals.collapsed_samples);
  json.key("lost").number(totals.lost_samples);
  json.end_object();
  json.key("nodes").number(tree.nodes().all().size());
}

void write_tree_modules(JsonWriter& json, std::span<const core::Module> modules) {
  json.key("modules").begin_array();
  for (const core::Module& module : modules) {
    json.begin_object();
    json.key("path").string(module.path);
    json.key("build_id").string(module.build_id);
    json.key("base").number(module.base.value());
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string kind_of_calls(const ContextTree& tree) {
  const auto& functions = tree.functions().all();
  const bool is_exact =
      tree.totals().lost_events == 0 &&
      std::none_of(functions.begin(), functions.end(),
                   [](const TreeFunctions::Function& one) { return one.until.has_value(); });
  return is_exact ? "exact" : "mixed";
}

void write_tree_json(std::ostream& out, const TreeReport& report, const ContextTree& tree,
                     TreeIds& ids, const NodeTexts& texts) {
  // JsonWriter would indent a deep tree by more than it says.
  std::ostringstream facts;
  JsonWriter json(facts);
  json.begin_object();
  write_tree_facts(json, report);
  write_tree_numbers(json, report, tree, ids, texts);
  write_tree_modules(json, report.modules);
  json.end_object();
  std::string text = std::move(facts).str();
  text.erase(text.rfind("\n}"));
  text += ",\n  \"tree\": ";
  out << text;
  text.clear();
  append_nodes(text, tree, node_counts(tree.nodes()), ids, texts, &out);
  out << text << "\n}\n";
}

}  // namespace sp::profiler
