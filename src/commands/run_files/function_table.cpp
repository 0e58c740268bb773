#include "commands/run_files/function_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "commands/run_files/decoded_function.h"
#include "commands/run_files/function_places.h"
#include "core/module.h"
#include "symbols/cold_part.h"
#include "symbols/demangle.h"
#include "symbols/function_id.h"
#include "symbols/instrumentation_candidates.h"
#include "symbols/module_names.h"
#include "symbols/symbol_table.h"
#include "symbols/symbolizer.h"

namespace sp::run_files {
namespace {

constexpr core::ModuleId kTheModule{0};

/// A symbol without the version behind '@', as compilers spell it.
std::string_view linkage_name_of(std::string_view symbol) {
  const std::size_t at = symbol.find('@', 1);
  return symbol.substr(0, at);
}

/// A jump out of a function.
struct JumpOut {
  std::uint64_t to = 0;
  std::size_t from = 0;  // index of the function in the table

  auto operator<=>(const JumpOut&) const = default;
};

class TableBuilder {
 public:
  explicit TableBuilder(const FunctionTableInput& input)
      : input_(input),
        sources_(symbols::find_symbol_sources(input.image, input.path, input.root,
                                              input.debug_directories, input.server.get())),
        symbols_(sources_),
        hash_(input.module_hash ? *input.module_hash : symbols::module_hash(*input.image)) {
    const auto* const filters = input.filters;
    const bool needs_calls =
        input.places.via == core::Via::fentry || input.places.via == core::Via::cyg;
    wants_instructions_ = input.has_instructions || needs_calls ||
                          (filters != nullptr && filters->needs_instruction_counts());
    if (input.has_lines || (filters != nullptr && filters->needs_source_files())) {
      open_lines();
    }
  }

  std::vector<TabledFunction> build() {
    const bool selects = !input_.selection.only_funcs.empty();
    std::unordered_set<std::uint64_t> selected;
    if (selects) {
      for (const auto& one :
           symbols::find_candidates(*input_.image, sources_, input_.selection).functions) {
        selected.insert(one.begin);
      }
    }
    auto candidates = symbols::find_candidates(*input_.image, sources_);
    places_.emplace(input_.places.via, input_.image, sources_, candidates.functions);
    std::vector<TabledFunction> table;
    table.reserve(candidates.functions.size());
    for (core::CandidateFunction& function : candidates.functions) {
      const bool is_selected = !selects || selected.contains(function.begin);
      TabledFunction& tabled = table.emplace_back();
      tabled.function = std::move(function);
      const auto code = describe(tabled, table.size() - 1);
      judge(tabled, is_selected, code ? &*code : nullptr);
      if (tabled.function.is_part) {
        parts_.push_back(table.size() - 1);
      }
    }
    name_parts(table);
    return table;
  }

 private:
  void open_lines() {
    lines_.emplace(symbols::SymbolizerOptions{input_.debug_directories, true, input_.server});
    core::Module module;
    module.id = kTheModule;
    module.kind = core::ModuleKind::file;
    module.path = input_.path;
    module.build_id = input_.image->build_id();
    module.root = input_.root;
    module.image = input_.image;
    lines_->add_module(module);
  }

  /// Returns its code if something asks for that.
  std::optional<DecodedFunction> describe(TabledFunction& tabled, std::size_t index) {
    std::optional<DecodedFunction> code;
    const core::CandidateFunction& function = tabled.function;
    profiler::SymbolRow& row = tabled.row;
    row.id = symbols::function_id(hash_, function.begin);
    row.module = input_.path;
    row.build_id = input_.image->build_id();
    row.offset = function.begin;
    if (const auto* const xray = places_->xray_of(function.begin)) {
      row.xray_id = xray->id;
    }
    row.linkage_name = linkage_name_of(symbols_.starting_at(function.begin));
    row.demangled_name = row.linkage_name.empty()
                             ? symbols::offset_name(input_.path, function.begin)
                             : symbols::demangle(row.linkage_name);
    if (function.has_known_end) {
      row.size = function.end - function.begin;
      if (wants_instructions_) {
        code = decode(function, index, row);
      }
    }
    if (lines_) {
      // Inlined code may begin there: the last frame is the function itself.
      const auto& frames = lines_->name({kTheModule, function.begin}, false);
      if (const auto& source = frames.back().source) {
        row.file = source->file;
        row.line = source->line;
      }
    }
    return code;
  }

  std::optional<DecodedFunction> decode(const core::CandidateFunction& function, std::size_t index,
                                        profiler::SymbolRow& row) {
    auto decoded = decode_function(*input_.image, function.begin, function.end);
    if (!decoded) {
      return decoded;
    }
    row.instructions = decoded->instructions;
    for (const std::uint64_t to : decoded->jumps_out) {
      if (!function.is_part) {
        jumps_.push_back({to, index});
      }
    }
    return decoded;
  }

  /// A stripped file has no name of a part, but a jump to it.
  void name_parts(std::vector<TabledFunction>& table) {
    std::sort(jumps_.begin(), jumps_.end());
    for (const std::size_t part : parts_) {
      const core::CandidateFunction& function = table[part].function;
      const auto jump = std::lower_bound(jumps_.begin(), jumps_.end(), JumpOut{function.begin, 0});
      if (table[part].row.linkage_name.empty() && jump != jumps_.end() && jump->to < function.end) {
        table[part].row.reason = "part-of:" + table[jump->from].row.demangled_name;
      }
    }
  }

  void judge(TabledFunction& tabled, bool is_selected, const DecodedFunction* code) const {
    profiler::SymbolRow& row = tabled.row;
    const core::PlaceChoice& places = input_.places;
    if (tabled.function.is_part) {
      row.reason = fmt::format("part-of:{}", row.linkage_name.empty()
                                                 ? "?"
                                                 : symbols::whole_of_cold_part(row.linkage_name));
      return;
    }
    if (!is_selected) {
      row.reason = "option:--only-funcs";
      return;
    }
    if (!places_->has_place(row.offset, code)) {
      row.reason = fmt::format("no-place:--via {}", place_name(places.via));
      return;
    }
    symbols::FunctionFilters::Verdict verdict;
    if (input_.filters != nullptr && !input_.filters->is_empty()) {
      verdict = input_.filters->judge(facts_of(row));
    }
    row.reason = std::move(verdict.reason);
    if (verdict.is_traced && !tabled.function.has_known_end) {
      row.reason = "no-bounds";
    } else if (verdict.is_traced && !places.xray_ids.empty() &&
               !names_id(places.xray_ids, row.module, row.xray_id.value_or(0))) {
      row.reason = "option:--xray-id";
      tabled.is_unpatched = true;
    } else if (verdict.is_traced) {
      row.is_instrumented = true;
      row.place = place_name(places.via);
      tabled.logs_first_argument = verdict.logs_first_argument;
    }
    if (const auto* const xray = places_->xray_of(row.offset)) {
      tabled.logs_first_argument = tabled.logs_first_argument || xray->logs_first_argument;
      tabled.events = xray->events;
    }
  }

  symbols::FunctionFacts facts_of(const profiler::SymbolRow& row) const {
    symbols::FunctionFacts facts;
    facts.module = row.module;
    facts.linkage_name = row.linkage_name;
    facts.demangled_name = row.linkage_name.empty() ? "" : std::string_view(row.demangled_name);
    facts.source_file = row.file;
    facts.instructions = row.instructions;
    if (row.size != 0) {
      facts.size = row.size;
    }
    if (const auto* const xray = places_->xray_of(row.offset)) {
      facts.xray_always = xray->always;
    }
    return facts;
  }

  const FunctionTableInput& input_;
  std::vector<symbols::ElfSections> sources_;
  symbols::SymbolTable symbols_;
  std::uint32_t hash_ = 0;
  bool wants_instructions_ = false;
  std::optional<FunctionPlaces> places_;
  std::optional<symbols::Symbolizer> lines_;
  std::vector<JumpOut> jumps_;
  std::vector<std::size_t> parts_;  // indices in the table
};

}  // namespace

std::vector<TabledFunction> function_table(const FunctionTableInput& input) {
  return TableBuilder(input).build();
}

}  // namespace sp::run_files
