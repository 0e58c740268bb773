#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/control_flow_graph.h"
#include "core/elf_image.h"
#include "core/place_choice.h"
#include "core/sled.h"
#include "profiler/formats/symbols_tsv.h"
#include "symbols/code_selection.h"
#include "symbols/debug_server.h"
#include "symbols/function_filters.h"

namespace sp::run_files {

/// A file, and which of its functions are to be traced.
struct FunctionTableInput {
  std::shared_ptr<const core::ElfImage> image;
  std::string path;  // as the rows name it
  std::string root;  // prepended to `path` for reading; "" or /proc/PID/root
  std::vector<std::string> debug_directories;
  std::shared_ptr<symbols::DebugServer> server{};  // as in symbols::SymbolizerOptions
  /// Of the ids; nothing: symbols::module_hash(). Another one if a second file has the same.
  std::optional<std::uint32_t> module_hash;
  const symbols::FunctionFilters* filters = nullptr;  // null: no rules
  symbols::CodeSelection selection;                   // --only-funcs
  core::PlaceChoice places;                           // --via, --xray-id
  /// Whether the rows are to have them. What a rule asks for is found in any case.
  bool has_lines = false;  // reads DWARF
  bool has_instructions = false;
};

/// A row, and what else a tracer of the function has to know.
struct TabledFunction {
  profiler::SymbolRow row;
  core::CandidateFunction function;
  bool logs_first_argument = false;  // an attribute list says so, or its XRay sled
  std::vector<core::Sled> events{};  // XRay: of its custom and typed events
  bool is_unpatched = false;         // it would be traced if --xray-id named it
};

/// Every function that symbols::find_candidates() finds in a file, by address, with its verdict. A
/// reason why one is left out is the first that applies: it is only a part of another function
/// ("part-of:NAME", or "part-of:?" if neither a symbol nor, with instructions, a jump tells of
/// which), the selection does not name it ("option:--only-funcs"), it has no such place
/// ("no-place:--via xray"), a rule ("block:RULE"), nothing tells where it ends ("no-bounds"), its
/// id is not named ("option:--xray-id"). `since` and `until` are left open.
[[nodiscard]] std::vector<TabledFunction> function_table(const FunctionTableInput& input);

}  // namespace sp::run_files
