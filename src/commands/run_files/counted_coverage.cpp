#include "commands/run_files/counted_coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "arch/decode_of_machine.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/function_table.h"
#include "core/elf_image.h"
#include "core/mapped_file.h"
#include "profiler/recorded_run.h"

namespace sp::run_files {
namespace {

using core::EdgeFlow;
using profiler::CoverageTable;
using profiler::RecordedCode;
using Ways = CoverageTable::Row::Ways;
using CountedImage = std::shared_ptr<const core::ElfImage>;

/// Null where the file is not there, or another build.
CountedImage open_counted_image(const std::string& path, const std::string& build_id) {
  auto file = core::MappedFile::open(path);
  if (!file) {
    return nullptr;
  }
  auto image = core::ElfImage::parse(std::move(*file));
  return image && (build_id.empty() || (*image)->identity() == build_id) ? *image : nullptr;
}

/// Whether the instruction there is a conditional branch: a block may also end before a place that
/// is jumped to, and what continues is told in the same way.
bool is_branch(const core::ElfImage& image, std::uint64_t at) {
  const auto instruction =
      arch::decode_of_machine(image.machine(), image.bytes_at(at), core::Address{at});
  return instruction && instruction->flow == core::Flow::branch;
}

class CountedTable {
 public:
  CountedTable(const RecordedCode& code, const std::vector<std::string>& debug_directories)
      : code_(code), debug_directories_(debug_directories) {
    for (const RecordedCode::Edge& edge : code.edges) {
      if (edge.flow == EdgeFlow::taken || edge.flow == EdgeFlow::fallthrough) {
        Ways& ways = ways_[{edge.from_module, edge.from}];
        (edge.flow == EdgeFlow::taken ? ways.taken : ways.continued) += edge.hits;
      }
    }
  }

  void add_module(std::uint32_t module, const CountedImage& image) {
    const auto number = static_cast<std::uint32_t>(table_.modules.size());
    table_.modules.push_back({code_.modules[module], image->identity(), {}});
    const std::vector<const RecordedCode::Block*> blocks = blocks_of(module);
    FunctionTableInput input;
    input.image = image;
    input.path = code_.modules[module];
    input.debug_directories = debug_directories_;
    auto block = blocks.begin();
    for (const TabledFunction& one : function_table(input)) {
      const core::CandidateFunction& function = one.function;
      const auto index = static_cast<std::uint32_t>(table_.functions.size());
      table_.functions.push_back(
          {number, one.row.demangled_name, function.begin, function.end - function.begin});
      block = std::find_if(block, blocks.end(),
                           [&](const auto* other) { return other->offset >= function.begin; });
      const bool is_executed = block != blocks.end() && (*block)->offset < function.end;
      if (!is_executed) {
        CoverageTable::Row& row = table_.rows.emplace_back();
        row.function = index;
        row.offset = function.begin;
        row.size = function.end - function.begin;
        row.kind = "exact";
        row.is_function = true;
      }
      for (; block != blocks.end() && (*block)->offset < function.end; ++block) {
        add_block(module, index, **block, *image);
      }
    }
  }

  CoverageTable take() { return std::move(table_); }

 private:
  /// By offset.
  [[nodiscard]] std::vector<const RecordedCode::Block*> blocks_of(std::uint32_t module) const {
    std::vector<const RecordedCode::Block*> blocks;
    for (const RecordedCode::Block& block : code_.blocks) {
      if (code_.functions[block.function].module == module) {
        blocks.push_back(&block);
      }
    }
    std::sort(blocks.begin(), blocks.end(),
              [](const auto* a, const auto* b) { return a->offset < b->offset; });
    return blocks;
  }

  void add_block(std::uint32_t module, std::uint32_t function, const RecordedCode::Block& block,
                 const core::ElfImage& image) {
    CoverageTable::Row& row = table_.rows.emplace_back();
    row.function = function;
    row.offset = block.offset;
    row.size = block.size;
    row.hits = block.hits;
    row.kind = "exact";
    const auto first = ways_.lower_bound({module, block.offset});
    const bool is_in_block = first != ways_.end() && first->first.first == module &&
                             first->first.second < block.offset + block.size;
    if (is_in_block && is_branch(image, first->first.second)) {
      row.flow = core::Flow::branch;
      row.ways = first->second;
    }
  }

  const RecordedCode& code_;
  const std::vector<std::string>& debug_directories_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Ways> ways_;  // by module and the branch
  CoverageTable table_;
};

}  // namespace

core::Result<CoverageTable> counted_coverage(const std::string& run,
                                             const std::vector<std::string>& debug_directories,
                                             std::vector<std::string>& notes) {
  const auto recorded = read_run(run);
  if (!recorded) {
    return tl::unexpected(recorded.error());
  }
  if (!recorded->counts_all) {
    return core::fail(fmt::format(
        "the run in {} has not counted everything; record it with --single, or with -a", run));
  }
  const auto code = read_code(run, notes);
  if (!code) {
    return tl::unexpected(code.error());
  }
  CountedTable table(*code, debug_directories);
  for (std::uint32_t module = 0; module < code->modules.size(); ++module) {
    const std::string& path = code->modules[module];
    const auto known =
        std::find_if(recorded->modules.begin(), recorded->modules.end(),
                     [&](const profiler::RecordedModule& one) { return one.path == path; });
    const bool is_file = known != recorded->modules.end() && known->kind == "file";
    if (const CountedImage image = is_file ? open_counted_image(path, known->build_id) : nullptr) {
      table.add_module(module, image);
    } else if (is_file) {
      notes.push_back(
          fmt::format("{} is not there as it was recorded: its lines are left out", path));
    }
  }
  return table.take();
}

}  // namespace sp::run_files
