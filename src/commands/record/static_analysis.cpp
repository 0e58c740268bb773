#include "commands/record/static_analysis.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

#include "analyzer/code_references.h"
#include "commands/run_files/function_places.h"
#include "commands/run_files/similar_names.h"
#include "core/log.h"
#include "rewriter/copy_function.h"
#include "rewriter/jump_targets.h"
#include "rewriter/padding.h"
#include "supervisor/linux/helper_threads.h"
#include "symbols/instrumentation_candidates.h"
#include "symbols/returning_twice.h"
#include "symbols/symbol_table.h"

namespace sp::record {

StaticAnalysis::StaticAnalysis(StaticAnalysisOptions options)
    : options_(std::move(options)),
      selection_{options_.toggle_collect.empty() ? options_.only_funcs : options_.toggle_collect},
      not_mapped_(options_.toggle_collect.empty() ? options_.only_modules
                                                  : std::vector<std::string>{}),
      trigger_names_(options_.triggers) {}

StaticAnalysis::~StaticAnalysis() { is_over_ = true; }

bool StaticAnalysis::wants(const File& file) {
  has_seen_files_ = true;
  std::erase_if(not_mapped_, [&](const std::string& name) {
    return symbols::is_wanted_module({name}, file.path, file.is_program);
  });
  return !options_.toggle_collect.empty() ||
         symbols::is_wanted_module(options_.only_modules, file.path, file.is_program);
}

core::InstrumentationCandidates StaticAnalysis::plan(const File& file) {
  Known& of_file = known(file);
  if (of_file.plan) {
    return *of_file.plan;
  }
  core::InstrumentationCandidates plan = find_functions(file, of_file);
  plans_any_ |= std::any_of(plan.functions.begin(), plan.functions.end(),
                            [](const auto& function) { return !function.is_part; });
  if (auto had = run_files::check_places(file.image, file.path, options_.places); !had) {
    without_places_ = had.error().doing;
  }
  if (plan.functions.empty() && !selection_.only_funcs.empty() && options_.toggle_collect.empty()) {
    std::vector<run_files::TabledFunction> table;
    if (file.is_program) {  // of all libraries that would take long
      table = run_files::function_table(table_input(file));
    }
    core::log_note("no function of {} matches --only-funcs; {}", file.path,
                   run_files::nearest_names(table, selection_.only_funcs.front()));
  }
  if (options_.traces) {
    const std::lock_guard lock(mutex_);
    planned_.push_back(file);
    Bounds& bounds = bounds_[file.image->identity()];
    for (const core::CandidateFunction& function : plan.functions) {
      bounds.push_back({function.begin, function.end - function.begin, function.is_part});
    }
  }
  of_file.plan = plan;
  if (options_.finds_references) {
    begin_references(file, of_file);
  }
  return plan;
}

core::InstrumentationCandidates StaticAnalysis::find_functions(const File& file, Known& of_file) {
  if (!options_.traces) {
    return symbols::find_candidates(
        *file.image,
        symbols::find_symbol_sources(file.image, file.path, file.root, options_.debug_directories),
        selection_);
  }
  core::InstrumentationCandidates wanted{{}, false, symbols::find_returning_twice(file.image)};
  auto table = run_files::function_table(table_input(file));
  note_gone_rules(file, table);
  for (run_files::TabledFunction& one : table) {
    if (one.function.is_part || one.row.reason.starts_with("allow:")) {
      of_file.kept.push_back(one.function.begin);
    }
    const std::uint32_t triggers =
        one.row.is_instrumented ? trigger_names_.triggers_of(one.row) : 0;
    const bool is_unpatched = options_.patches && one.is_unpatched;
    const bool is_planned = one.row.is_instrumented || is_unpatched;
    const bool may_patch = options_.patches && is_planned && one.row.xray_id;
    const bool says_more = is_planned && (one.logs_first_argument || !one.events.empty());
    if (triggers != 0 || may_patch || says_more) {
      of_file.controlled.push_back({one.function.begin, triggers, may_patch ? one.row.id : 0, false,
                                    one.logs_first_argument, std::move(one.events)});
    }
    if (may_patch) {
      const std::lock_guard lock(mutex_);
      patched_.add(file.path, *one.row.xray_id, one.row.id, one.row.is_instrumented);
    }
    if (is_planned || one.function.is_part) {
      wanted.functions.push_back(std::move(one.function));
    }
  }
  return wanted;
}

std::vector<supervisor::CodeAnalysis::ControlledFunction> StaticAnalysis::controlled(
    const File& file) {
  auto functions = known(file).controlled;
  const std::lock_guard lock(mutex_);
  for (ControlledFunction& function : functions) {
    function.is_unpatched = function.id != 0 && !patched_.is_patched(function.id);
  }
  return functions;
}

core::Result<std::vector<std::uint64_t>> StaticAnalysis::patch(std::span<const core::XrayIds> ids,
                                                               bool is_patched) {
  const std::lock_guard lock(mutex_);
  if (const std::string missing = patched_.missing(ids); !missing.empty()) {
    return core::fail(fmt::format(
        "no function that may be traced has the XRay id {}; symbols.tsv and superprofiler xray "
        "list them",
        missing));
  }
  return patched_.set(ids, is_patched);
}

std::vector<std::vector<std::size_t>> StaticAnalysis::learn(const std::vector<CallCosts>& files,
                                                            core::Duration own, bool is_decided) {
  LearnedFunctions::Kept kept;
  for (const CallCosts& costs : files) {
    const std::vector<std::uint64_t>& of_file = known(costs.file).kept;
    std::vector<bool>& flags = kept.emplace_back();
    for (const core::CallCost& function : costs.functions) {
      flags.push_back(std::binary_search(of_file.begin(), of_file.end(), function.begin));
    }
  }
  const std::lock_guard lock(mutex_);
  return learned_.choose(files, kept, own, options_.keep_percent, is_decided);
}

run_files::FunctionTableInput StaticAnalysis::table_input(const File& file) const {
  run_files::FunctionTableInput input;
  input.image = file.image;
  input.path = file.path;
  input.root = file.root;
  input.debug_directories = options_.debug_directories;
  input.filters = &options_.filters;
  input.selection = selection_;
  input.places = options_.places;
  return input;
}

std::vector<profiler::SymbolRow> StaticAnalysis::traced_functions() const {
  std::vector<File> files;
  {
    const std::lock_guard lock(mutex_);
    files = planned_;
  }
  std::vector<profiler::SymbolRow> rows;
  for (const File& file : files) {
    run_files::FunctionTableInput input = table_input(file);
    input.has_lines = true;
    input.has_instructions = true;
    const std::string identity = file.image->identity();
    for (run_files::TabledFunction& one : run_files::function_table(input)) {
      rows.push_back(std::move(one.row));
      const std::lock_guard lock(mutex_);
      learned_.describe(identity, rows.back());
      patched_.describe(rows.back());
    }
  }
  return rows;
}

std::vector<core::TracedFunction<core::ModuleOffset>> StaticAnalysis::planned_functions(
    const core::Module& module) const {
  std::vector<core::TracedFunction<core::ModuleOffset>> functions;
  if (!module.image) {
    return functions;
  }
  const std::lock_guard lock(mutex_);
  const auto known = bounds_.find(module.image->identity());
  if (known != bounds_.end()) {
    for (const auto& function : known->second) {
      functions.push_back({{module.id, function.start}, function.size, function.is_part});
    }
  }
  return functions;
}

core::ControlFlowGraph StaticAnalysis::map(core::AddressRange bounds, std::uint64_t bias,
                                           std::span<const core::Address> leaders, const Read& read,
                                           const core::TableHints* hints) {
  return graphs_.map(bounds, bias, leaders, read, hints);
}

StaticAnalysis::Known& StaticAnalysis::known(const File& file) {
  return known_[fmt::format("{}{} {} {}", file.root, file.path, file.image->identity(),
                            file.image->bytes().size())];
}

/// The target does not wait for this: of a large program it takes a second.
void StaticAnalysis::begin_references(const File& file, Known& known) {
  if (known.references || known.pending.valid()) {
    return;
  }
  using Functions = std::vector<core::CandidateFunction>;
  const auto find = [this, image = file.image,
                     functions = known.plan ? known.plan->functions : Functions{}] {
    return analyzer::find_code_references(image, functions, is_over_);
  };
  try {
    known.pending = std::async(std::launch::async, [find] {
      ::prctl(PR_SET_NAME, "sp-references");
      const supervisor::HelperThreads::Membership helper(supervisor::HelperThreads::of_process());
      return find();
    });
  } catch (const std::system_error&) {  // no thread: this one stays what it is
    known.references = find();
  }
}

const core::CodeReferences* StaticAnalysis::references(const File& file) {
  Known& of_file = known(file);
  begin_references(file, of_file);
  if (!of_file.references &&
      of_file.pending.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    of_file.references = of_file.pending.get();
  }
  return of_file.references ? &*of_file.references : nullptr;
}

bool StaticAnalysis::jumps_through_pointers(const core::ControlFlowGraph& graph,
                                            core::AddressRange bounds,
                                            std::span<const std::byte> code) {
  return rewriter::jumps_through_pointers(graph, bounds, code);
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
  const auto& transfers = function.graph->transfers;
  if (!std::binary_search(transfers.begin(), transfers.end(), function.bounds.end)) {
    known.dead.push_back(rewriter::find_padding(function.behind, function.bounds.end));
  }
  return rewriter::copy_function(known, place);
}

std::optional<std::uint64_t> StaticAnalysis::symbol(const File& file, std::string_view name) {
  return symbols::SymbolTable({symbols::ElfSections(file.image)}).address_of(name);
}

}  // namespace sp::record
