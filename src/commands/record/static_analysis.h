#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/known_graphs.h"
#include "commands/record/learned_functions.h"
#include "commands/record/patched_functions.h"
#include "commands/record/trigger_names.h"
#include "commands/run_files/coverage_file.h"
#include "commands/run_files/function_table.h"
#include "core/function_trace.h"
#include "core/module.h"
#include "core/place_choice.h"
#include "core/result.h"
#include "core/trace_trigger.h"
#include "profiler/formats/symbols_tsv.h"
#include "supervisor/instruments/code_analysis.h"
#include "symbols/code_selection.h"
#include "symbols/function_filters.h"

namespace sp::record {

struct StaticAnalysisOptions {
  std::vector<std::string> only_funcs;
  std::vector<std::string> only_modules;  // empty: the program alone
  std::vector<std::string> debug_directories;
  bool finds_references = false;  // of each file that is planned, in the background
  run_files::KnownCoverage known_coverage{};
  bool traces = false;                 // functions are chosen as `superprofiler symbols` tells
  symbols::FunctionFilters filters{};  // of these
  std::vector<core::TraceTrigger> triggers{};
  double keep_percent = 0;  // --learn: what calls may cost, of the target's own time
  core::PlaceChoice places{};
  bool patches = false;  // functions are patched and unpatched while the target runs
  /// --toggle-collect: of any file these functions are planned, and no others.
  std::vector<std::string> toggle_collect{};
};

/// Static analysis of the target's code, from its symbols and the analyzer, behind the supervisor's
/// interface. For one thread.
class StaticAnalysis final : public supervisor::CodeAnalysis {
 public:
  explicit StaticAnalysis(StaticAnalysisOptions options);
  StaticAnalysis(const StaticAnalysis&) = delete;
  StaticAnalysis& operator=(const StaticAnalysis&) = delete;
  ~StaticAnalysis() override;

  [[nodiscard]] bool wants(const File& file) override;
  [[nodiscard]] bool wants_libraries() override {
    return !options_.only_modules.empty() || !options_.toggle_collect.empty();
  }
  [[nodiscard]] core::InstrumentationCandidates plan(const File& file) override;
  [[nodiscard]] std::vector<ControlledFunction> controlled(const File& file) override;
  [[nodiscard]] std::vector<core::ReachedRange> known_reached(const File& file) override;
  [[nodiscard]] core::ControlFlowGraph map(core::AddressRange bounds, std::uint64_t bias,
                                           std::span<const core::Address> leaders, const Read& read,
                                           const core::TableHints* hints) override;
  [[nodiscard]] const core::CodeReferences* references(const File& file) override;
  [[nodiscard]] bool jumps_through_pointers(const core::ControlFlowGraph& graph,
                                            core::AddressRange bounds,
                                            std::span<const std::byte> code) override;
  [[nodiscard]] tl::expected<core::FunctionCopy, core::CopyRefusal> copy(
      const core::FunctionToCopy& function, const core::CopyPlace& place) override;
  std::vector<std::vector<std::size_t>> learn(const std::vector<CallCosts>& files,
                                              core::Duration own, bool is_decided) override;
  [[nodiscard]] std::optional<std::uint64_t> symbol(const File& file,
                                                    std::string_view name) override;

  /// Every function of the files that were planned, for symbols.tsv. Any thread.
  [[nodiscard]] std::vector<profiler::SymbolRow> traced_functions() const;

  /// The functions of a module that were planned, and whose calls are seen; nothing if its file was
  /// not planned yet. Any thread.
  [[nodiscard]] std::vector<core::TracedFunction<core::ModuleOffset>> planned_functions(
      const core::Module& module) const;

  /// Patches or unpatches functions in processes that begin now. Returns them; the rest is the
  /// supervisor's. Error: what of the ids names no function that may be traced. Any thread.
  [[nodiscard]] core::Result<std::vector<std::uint64_t>> patch(std::span<const core::XrayIds> ids,
                                                               bool is_patched);

  /// At the end of a run: says which of the named files no process has mapped, which triggers name
  /// nothing, that no file had the places or ids of --via and --xray-id, and what of
  /// --coverage-known was of no use.
  void report_not_mapped() const;

 private:
  StaticAnalysisOptions options_;
  symbols::CodeSelection selection_;
  std::vector<std::string> not_mapped_;  // of only_modules
  TriggerNames trigger_names_;
  bool has_seen_files_ = false;
  bool plans_any_ = false;  // of some file a function
  std::string without_places_{"none has what --via and --xray-id ask for"};  // or which file
  std::set<std::pair<std::string, std::string>> covered_;  // --coverage: paths and identities
  struct Known {
    std::optional<core::InstrumentationCandidates> plan;
    std::vector<ControlledFunction> controlled;
    std::vector<std::uint64_t> kept;  // --learn: ELF addresses, ascending: of allow rules, parts
    std::future<core::CodeReferences> pending;
    std::optional<core::CodeReferences> references;
  };
  Known& known(const File& file);
  /// Of `file`, which is `of_file`.
  [[nodiscard]] core::InstrumentationCandidates find_functions(const File& file, Known& of_file);
  [[nodiscard]] run_files::FunctionTableInput table_input(const File& file) const;
  void note_gone_rules(const File& file, std::span<const run_files::TabledFunction> table) const;
  void begin_references(const File& file, Known& known);

  std::atomic<bool> is_over_{false};
  mutable std::mutex mutex_;
  std::vector<File> planned_;  // under mutex_; whose calls are seen
  using Bounds = std::vector<core::TracedFunction<std::uint64_t>>;
  std::map<std::string, Bounds> bounds_;  // likewise: by identity
  LearnedFunctions learned_;              // likewise
  PatchedFunctions patched_;              // likewise
  analyzer::KnownGraphs graphs_;
  std::map<std::string, Known> known_;  // by path, ElfImage::identity() and size
};

}  // namespace sp::record
