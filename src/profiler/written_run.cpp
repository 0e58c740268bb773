#include "profiler/written_run.h"

#include <algorithm>

namespace sp::profiler {

WrittenCode summed_up(const NamedCode& code, std::span<const core::Module> modules,
                      std::size_t top) {
  WrittenCode sum;
  sum.by_probes = code.by_probes;
  sum.blocks = code.blocks.size();
  sum.edges = code.edges.size();
  sum.executions = code.executions;
  sum.instructions = code.instructions;
  sum.lost_hits = code.lost_hits;
  sum.consistency = code.consistency;
  for (std::size_t i = 0; i < std::min(top, code.blocks.size()); ++i) {
    const NamedBlock& row = code.blocks[i];
    const CodeFunction& function = code.functions[row.function];
    const auto module =
        std::find_if(modules.begin(), modules.end(),
                     [&](const core::Module& known) { return known.id == row.block.start.module; });
    sum.top.push_back({row.block.hits, row.block.instructions, function.name,
                       row.block.start.offset - function.start,
                       module == modules.end() ? std::string() : module->path, row.source,
                       row.block.span.is_whole()});
  }
  return sum;
}

}  // namespace sp::profiler
