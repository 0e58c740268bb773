#include "supervisor/instruments/probes/known_jumps.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/places_in_code.h"
#include "supervisor/instruments/probes/ways_in.h"

namespace sp::supervisor {
namespace {

using core::Address;

/// Gives a place in another function a block, unless it is within an instruction: what leads there
/// may be just a number.
void instrument_part(ProbedCode& code, Address at) {
  const ProbedFunction* const part = code.functions().at(at);
  if (part != nullptr && at != part->bounds.begin && code.needs_instrumentation(at) &&
      may_begin_block(code, *part, at)) {
    code.instrument_function(at, std::nullopt);
  }
}

/// Cold parts of functions, which nobody calls, are entered in their middle by jumps through
/// pointers. Once for each module.
void instrument_parts(ProbedCode& code, const FunctionIndex::Module& module,
                      const core::CodeReferences& references) {
  if (!code.modules_with_parts().insert(module.mapped.begin).second) {
    return;
  }
  for (const std::uint64_t pointer : references.pointers) {
    const Address at{pointer + module.bias};
    const ProbedFunction* const part = code.functions().at(at);
    if (part != nullptr && at != part->bounds.begin &&
        !std::binary_search(references.calls.begin(), references.calls.end(),
                            part->bounds.begin.value() - module.bias)) {
      instrument_part(code, at);
    }
  }
}

}  // namespace

bool resolve_jumps(ProbedCode& code, ProbedFunction& function) {
  const FunctionIndex::Module* const module = code.functions().module_at(function.bounds.begin);
  if (function.are_jumps_looked_at || module == nullptr || module->file.image == nullptr) {
    return true;
  }
  const core::CodeReferences* const references = code.analysis().references(module->file);
  if (references == nullptr) {
    return false;
  }
  function.are_jumps_looked_at = true;
  std::vector<std::byte> bytes(function.bounds.size());
  if (code.fetch(function.bounds.begin, bytes) != bytes.size()) {
    return true;
  }
  const auto ways =
      WaysIntoFunctions(code, code.analysis(), *references, module->bias).find(function);
  if (!ways || !covers(ways->graph, code, function) || !ways->graph.unmapped.empty() ||
      !code.analysis().jumps_through_pointers(ways->graph, function.bounds, bytes)) {
    return true;
  }
  instrument_parts(code, *module, *references);
  for (const Address at : ways->graph.table_destinations) {
    if (!function.bounds.contains(at)) {
      instrument_part(code, at);
    }
  }
  function.has_known_jumps = true;
  code.adopt(function, ways->graph);
  return true;
}

}  // namespace sp::supervisor
