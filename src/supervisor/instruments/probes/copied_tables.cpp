#include "supervisor/instruments/probes/copied_tables.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace sp::supervisor {

void add_tables(ProbedCode& code, const FunctionIndex::Module& module,
                core::ControlFlowGraph& graph, core::FunctionToCopy& to_copy) {
  constexpr std::size_t kLookedAt = 64;  // of code outside
  std::erase_if(graph.tables, [&](const core::BranchTable& table) {
    return !module.file.image->is_constant_at(table.first.value() - module.bias);
  });
  to_copy.copies_tables = true;
  for (const core::BranchTable& table : graph.tables) {
    for (const core::Address to : *table.destinations) {
      const auto [outside, is_new] = to_copy.bounds.contains(to)
                                         ? std::pair(to_copy.outside.end(), false)
                                         : to_copy.outside.try_emplace(to);
      if (is_new) {
        outside->second.resize(kLookedAt);
        outside->second.resize(code.fetch(to, outside->second));
      }
    }
  }
}

}  // namespace sp::supervisor
