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

/// Which of the places are in the middle of other functions that have no block there.
void keep_unknown(ProbedCode& code, std::vector<Address>& places) {
  std::erase_if(places, [&code](Address at) {
    const ProbedFunction* const part = code.functions().at(at);
    return part == nullptr || at == part->bounds.begin || !code.needs_instrumentation(at);
  });
}

/// Cold parts of functions, which nobody calls, are entered in their middle by jumps through
/// pointers. Once for each module.
void instrument_parts(ProbedCode& code, const FunctionIndex::Module& module,
                      const core::CodeReferences& references) {
  if (!code.modules_with_parts().insert(module.mapped.begin).second) {
    return;
  }
  std::vector<Address> places;
  for (const std::uint64_t pointer : references.pointers) {
    const ProbedFunction* const part = code.functions().at(Address{pointer + module.bias});
    if (part != nullptr && !std::binary_search(references.calls.begin(), references.calls.end(),
                                               part->bounds.begin.value() - module.bias)) {
      places.emplace_back(pointer + module.bias);
    }
  }
  keep_unknown(code, places);
  instrument_places(code, places);
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
  std::vector<Address> outside = ways->graph.table_destinations;
  std::erase_if(outside, [&function](Address at) { return function.bounds.contains(at); });
  keep_unknown(code, outside);
  instrument_places(code, outside);
  function.has_known_jumps = true;
  code.adopt(function, ways->graph);
  return true;
}

}  // namespace sp::supervisor
