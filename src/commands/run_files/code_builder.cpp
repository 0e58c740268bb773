#include "commands/run_files/code_builder.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sp::run_files {

using profiler::RecordedCode;

std::uint32_t TextNumbers::of(const std::string& text) {
  const auto [place, is_new] =
      numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) {
    texts_.push_back(text);
  }
  return place->second;
}

void CodeBuilder::add(const Block& block) {
  const std::uint32_t module = modules_.of(block.module);
  const auto [place, is_new] =
      functions_.try_emplace({module, block.function_start, block.function},
                             static_cast<std::uint32_t>(code_.functions.size()));
  if (is_new) {
    code_.functions.push_back({module, block.function, block.function_start});
  }
  code_.blocks.push_back({place->second, files_.of(block.file), block.line, block.size,
                          block.instructions, block.offset, block.hits, block.until,
                          kinds_.of(block.kind)});
  code_.blocks_to_the_end += block.to_the_end ? 1 : 0;
}

void CodeBuilder::add(RecordedCode::Edge edge, const std::string& from_module,
                      const std::string& to_module, const std::string& kind) {
  edge.from_module = modules_.of(from_module);
  edge.to_module = modules_.of(to_module);
  edge.kind = kinds_.of(kind);
  code_.edges.push_back(edge);
}

RecordedCode CodeBuilder::finish() {
  sort_functions();
  std::sort(code_.blocks.begin(), code_.blocks.end(), [](const auto& a, const auto& b) {
    return std::tie(a.function, a.offset) < std::tie(b.function, b.offset);
  });
  return std::move(code_);
}

/// By module and start: they were added with the hottest first.
void CodeBuilder::sort_functions() {
  std::vector<std::uint32_t> order(code_.functions.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
    const auto key = [this](std::uint32_t i) {
      const RecordedCode::Function& function = code_.functions[i];
      return std::tie(code_.modules[function.module], function.start, function.name);
    };
    return key(a) < key(b);
  });
  std::vector<std::uint32_t> new_number(order.size());
  std::vector<RecordedCode::Function> sorted;
  for (const std::uint32_t old : order) {
    new_number[old] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(code_.functions[old]));
  }
  code_.functions = std::move(sorted);
  for (RecordedCode::Block& block : code_.blocks) {
    block.function = new_number[block.function];
  }
}

}  // namespace sp::run_files
