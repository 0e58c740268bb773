#include "profiler/written_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

bool has_end(const NamedBlock& row) { return row.block.span.until.has_value(); }

/// Samples do not tell how often a block was executed after its probe was removed: that needs the
/// time of one execution, which differs from block to block and cannot be measured under a probe.
/// So blocks are compared by their samples, which cover the whole run.
std::vector<const NamedBlock*> hottest(const NamedCode& code, std::size_t most) {
  const bool by_samples = std::any_of(code.blocks.begin(), code.blocks.end(), has_end);
  std::vector<const NamedBlock*> rows;
  for (const NamedBlock& row : code.blocks) {
    if (!by_samples || row.samples > 0) {
      rows.push_back(&row);
    }
  }
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(most, rows.size()));
  if (by_samples) {
    std::partial_sort(rows.begin(), end, rows.end(), [](const NamedBlock* a, const NamedBlock* b) {
      return std::tie(b->samples, b->block.hits, a->block.start) <
             std::tie(a->samples, a->block.hits, b->block.start);
    });
  }
  rows.erase(end, rows.end());
  return rows;
}

const core::Module* module_of(const NamedBlock& row, const CountsContext& context) {
  const auto found =
      std::find_if(context.modules.begin(), context.modules.end(),
                   [&](const core::Module& known) { return known.id == row.block.start.module; });
  return found == context.modules.end() ? nullptr : &*found;
}

/// The name if it is unique and has no control characters, else MODULE:0xSTART.
std::string argument_for(const CodeFunction& function, const core::Module& module,
                         const NamedCode& code) {
  const auto same_name =
      std::count_if(code.functions.begin(), code.functions.end(),
                    [&](const CodeFunction& other) { return other.name == function.name; });
  return same_name == 1 && folded_name(function.name) == function.name
             ? function.name
             : fmt::format("{}:{:#x}", module.path, function.start);
}

}  // namespace

WrittenCode summed_up(const NamedCode& code, const CountsContext& context, std::size_t top) {
  WrittenCode sum;
  sum.by_probes = code.by_probes;
  sum.blocks = code.blocks.size();
  sum.edges = code.edges.size();
  sum.executions = code.executions;
  sum.instructions = code.instructions;
  sum.lost_hits = code.lost_hits;
  sum.consistency = code.consistency;
  for (const NamedBlock* row : hottest(code, top)) {
    const CodeFunction& function = code.functions[row->function];
    const core::Module* module = module_of(*row, context);
    sum.top.push_back({row->block.hits, row->block.instructions, function.name,
                       row->block.start.offset - function.start,
                       module == nullptr ? std::string() : module->path, row->source, row->samples,
                       context.span(row->block.span)});
    if (sum.hottest_function.empty() && module != nullptr &&
        module->kind == core::ModuleKind::file) {
      sum.hottest_function = argument_for(function, *module, code);
    }
  }
  return sum;
}

}  // namespace sp::profiler
