#include "profiler/formats/blocks_tsv.h"

#include <fmt/format.h>

#include <ostream>
#include <string_view>
#include <unordered_map>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

constexpr std::string_view kBlocksHeader =
    "module\toffset\taddress\tfunction\tfunction_offset\tsize\tinstructions\thits\tkind\tfirst_us\t"
    "last_us\tsource\n";
constexpr std::string_view kEdgesHeader =
    "module\tfrom_offset\tto_module\tto_offset\thits\tkind\tflow\n";

struct ModuleCells {
  std::string path = "[unknown]";
  std::uint64_t base = 0;  // 0 if offsets are addresses
};

class ModuleTable {
 public:
  explicit ModuleTable(std::span<const core::Module> modules) {
    for (const core::Module& module : modules) {
      const bool has_image =
          module.kind == core::ModuleKind::file || module.kind == core::ModuleKind::vdso;
      cells_[module.id] = {tsv_cell(module.path), has_image ? module.base.value() : 0};
    }
  }
  [[nodiscard]] const ModuleCells& of(core::ModuleId id) const {
    const auto found = cells_.find(id);
    return found == cells_.end() ? unknown_ : found->second;
  }

 private:
  std::unordered_map<core::ModuleId, ModuleCells> cells_;
  ModuleCells unknown_;
};

}  // namespace

std::string_view flow_word(core::EdgeFlow flow) {
  switch (flow) {
    case core::EdgeFlow::jump:
      return "jump";
    case core::EdgeFlow::taken:
      return "taken";
    case core::EdgeFlow::fallthrough:
      return "fallthrough";
    case core::EdgeFlow::call:
      return "call";
    case core::EdgeFlow::indirect:
      return "indirect";
    case core::EdgeFlow::ret:
      return "return";
    case core::EdgeFlow::entry:
      return "entry";
  }
  return "";
}

void write_blocks_tsv(std::ostream& out, const NamedCode& code, const CountsContext& context) {
  const ModuleTable modules(context.modules);
  out << kBlocksHeader;
  for (const NamedBlock& row : code.blocks) {
    const CodeBlock& block = row.block;
    const ModuleCells& module = modules.of(block.start.module);
    const CodeFunction& function = code.functions[row.function];
    const std::string place =
        fmt::format("{}\t{:#x}\t{:#x}\t{}\t{:#x}\t{}\t{}", module.path, block.start.offset,
                    module.base + block.start.offset, tsv_cell(function.name),
                    block.start.offset - function.start, block.size, block.instructions);
    const std::string source = tsv_cell(row.source);
    out << fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", place, block.hits, context.kind(block.span),
                       core::microseconds(block.first_hit - context.started),
                       core::microseconds(block.last_hit - context.started), source);
    if (block.span.until && row.samples > 0) {
      out << fmt::format("{}\t{}\tsampled\t\t\t{}\n", place, row.samples, source);
    }
  }
}

void write_edges_tsv(std::ostream& out, const NamedCode& code, const CountsContext& context) {
  const ModuleTable modules(context.modules);
  out << kEdgesHeader;
  for (const CountedEdge& edge : code.edges) {
    const std::string from =
        edge.flow == core::EdgeFlow::entry ? std::string() : fmt::format("{:#x}", edge.from.offset);
    out << fmt::format("{}\t{}\t{}\t{:#x}\t{}\t{}\t{}\n", modules.of(edge.from.module).path, from,
                       modules.of(edge.to.module).path, edge.to.offset, edge.hits,
                       context.kind(edge.span), flow_word(edge.flow));
  }
}

}  // namespace sp::profiler
