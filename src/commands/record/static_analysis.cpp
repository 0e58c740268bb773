#include "commands/record/static_analysis.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/code_references.h"
#include "analyzer/control_flow_graph.h"
#include "core/log.h"
#include "rewriter/copy_function.h"
#include "rewriter/jump_targets.h"
#include "symbols/instrumentation_candidates.h"
#include "symbols/symbol_table.h"

namespace sp::record {

StaticAnalysis::StaticAnalysis(StaticAnalysisOptions options)
    : options_(std::move(options)),
      selection_{options_.only_funcs},
      not_mapped_(options_.only_modules) {}

bool StaticAnalysis::wants(const File& file) {
  has_seen_files_ = true;
  std::erase_if(not_mapped_, [&](const std::string& name) {
    return symbols::is_wanted_module({name}, file.path, file.is_program);
  });
  return symbols::is_wanted_module(options_.only_modules, file.path, file.is_program);
}

void StaticAnalysis::report_not_mapped() const {
  for (const std::string& name : has_seen_files_ ? not_mapped_ : std::vector<std::string>{}) {
    core::log_note("no process has mapped code of {}, which --only-instrument-execs names", name);
  }
}

core::InstrumentationCandidates StaticAnalysis::plan(const File& file) {
  const auto sources =
      symbols::find_symbol_sources(file.image, file.path, file.root, options_.debug_directories);
  core::InstrumentationCandidates plan = symbols::find_candidates(*file.image, sources, selection_);
  if (plan.functions.empty() && !selection_.only_funcs.empty()) {
    core::log_note("no function of {} matches --only-funcs", file.path);
  }
  known(file).functions = plan.functions;
  return plan;
}

core::ControlFlowGraph StaticAnalysis::map(core::AddressRange bounds,
                                           std::span<const core::Address> leaders,
                                           const Read& read) {
  return analyzer::build_control_flow_graph(bounds, leaders, read);
}

StaticAnalysis::Known& StaticAnalysis::known(const File& file) {
  return known_[fmt::format("{}{} {} {}", file.root, file.path, file.image->build_id(),
                            file.image->bytes().size())];
}

const core::CodeReferences& StaticAnalysis::references(const File& file) {
  Known& of_file = known(file);
  if (!of_file.references) {
    of_file.references = analyzer::find_code_references(file.image, of_file.functions);
  }
  return *of_file.references;
}

tl::expected<core::FunctionCopy, core::CopyRefusal> StaticAnalysis::copy(
    const core::FunctionToCopy& function, const core::CopyPlace& place) {
  core::FunctionToCopy known = function;
  known.is_complete =
      rewriter::jumps_through_pointers(*function.graph, function.bounds, function.code);
  if (!known.is_complete) {
    // A jump from the copy may lead to code that is not known, where nobody would count it.
    return tl::unexpected(core::CopyRefusal::open_function);
  }
  return rewriter::copy_function(known, place);
}

std::optional<std::uint64_t> StaticAnalysis::symbol(const File& file, std::string_view name) {
  return symbols::SymbolTable({symbols::ElfSections(file.image)}).address_of(name);
}

}  // namespace sp::record
