// What a run says of files and functions that were named and are not there.
#include <set>
#include <string>
#include <vector>

#include "commands/record/static_analysis.h"
#include "core/log.h"

namespace sp::record {

void StaticAnalysis::report_not_mapped() const {
  for (const std::string& name : has_seen_files_ ? not_mapped_ : std::vector<std::string>{}) {
    core::log_note("no process has mapped code of {}, which --only-instrument-execs names", name);
  }
  for (const std::string& text :
       has_seen_files_ ? trigger_names_.unmet() : std::vector<std::string>{}) {
    core::log_note("--trigger '{}' was never set: no traced function has the name", text);
  }
  if (has_seen_files_ && !plans_any_ && !options_.places.is_any()) {
    core::log_note("no function was traced: {}", without_places_);
  }
  if (has_seen_files_ && !plans_any_ && !options_.toggle_collect.empty()) {
    core::log_note(
        "no function of the target matches --toggle-collect: nothing was counted; superprofiler "
        "symbols FILE lists the names");
  }
  for (const std::string& text : options_.known_coverage.of_other_files(covered_)) {
    core::log_note("--coverage-known: {}", text);
  }
}

std::vector<core::ReachedRange> StaticAnalysis::known_reached(const File& file) {
  const auto& [path, identity] = *covered_.emplace(file.path, file.image->identity()).first;
  for (const std::string& text : options_.known_coverage.other_builds(path, identity)) {
    core::log_note("--coverage-known: {}", text);
  }
  return options_.known_coverage.reached_in(identity);
}

/// A file of --learn may be of an older build.
void StaticAnalysis::note_gone_rules(const File& file,
                                     std::span<const run_files::TabledFunction> table) const {
  if (options_.filters.is_empty()) {
    return;
  }
  std::set<std::string> found;
  std::vector<symbols::FunctionFacts> facts;
  for (const run_files::TabledFunction& one : table) {
    found.insert(one.row.reason);
    symbols::FunctionFacts& of_one = facts.emplace_back();
    of_one.module = one.row.module;
    of_one.linkage_name = one.row.linkage_name;
  }
  if (const std::size_t gone = options_.filters.count_gone(file.path, facts, found); gone > 0) {
    core::log_note(
        "{} of the rules of --learn {} functions that {} does not have any more; --learn "
        "writes new ones",
        gone, gone == 1 ? "is for" : "are for", file.path);
  }
}

}  // namespace sp::record
