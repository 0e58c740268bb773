#include "commands/report/hot_code.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sp::report {
namespace {

using Key = std::tuple<std::string, std::uint64_t, std::string>;  // module, start, name
using Functions = std::map<Key, HotFunction>;

HotFunction& at(Functions& functions, std::string_view module, std::uint64_t start,
                std::string_view name) {
  HotFunction& found = functions[{std::string(module), start, std::string(name)}];
  found.function.module = module;
  found.function.start = start;
  found.function.name = name;
  return found;
}

void add_samples(Functions& functions, profiler::RecordingReader& recording) {
  const std::vector<std::uint64_t> sums = recording.sums();
  for (std::size_t node = 0; node < sums.size(); ++node) {
    if (sums[node] == 0) {
      continue;
    }
    const std::uint32_t number = recording.nodes()[node].place;
    const profiler::RecordingPlace& place = recording.places()[number];
    const auto names = recording.names_of(number);
    const profiler::RecordingModule* module = recording.module(place.module);
    if (place.kind != profiler::StepKind::instruction || names.empty() || module == nullptr) {
      continue;
    }
    HotFunction& function = at(functions, module->path, names.front().start,
                               recording.functions()[names.front().function].name);
    function.samples[place.value] += sums[node];
    function.sampled += sums[node];
  }
}

/// Two files that had a path in turn may both have a block there.
void add_block(annotate::CountedFunction& function, const profiler::RecordedCode::Block& block,
               const std::string& kind) {
  auto& blocks = function.blocks;
  if (!blocks.empty() && blocks.back().offset == block.offset) {
    blocks.back().hits += block.hits;
    blocks.back().size = std::max<std::uint64_t>(blocks.back().size, block.size);
    blocks.back().kind = blocks.back().kind == kind ? kind : "mixed";
  } else {
    blocks.push_back({block.offset, block.size, block.hits, kind});
  }
  function.kind = function.kind.empty() || function.kind == kind ? kind : "mixed";
}

void add_blocks(Functions& functions, const profiler::RecordedCode& code) {
  HotFunction* hot = nullptr;
  for (std::size_t i = 0; i < code.blocks.size(); ++i) {
    const profiler::RecordedCode::Block& block = code.blocks[i];
    if (i == 0 || block.function != code.blocks[i - 1].function) {
      const auto& function = code.functions[block.function];
      hot = &at(functions, code.modules[function.module], function.start, function.name);
    }
    add_block(hot->function, block,
              block.kind < code.kinds.size() ? code.kinds[block.kind] : std::string());
    hot->executed += block.executed();
  }
}

}  // namespace

std::vector<HotFunction> hot_functions(profiler::RecordingReader* recording,
                                       const profiler::RecordedCode* code, std::size_t most) {
  Functions functions;
  if (recording != nullptr) {
    add_samples(functions, *recording);
  }
  if (code != nullptr) {
    add_blocks(functions, *code);
  }
  std::vector<HotFunction*> order;
  order.reserve(functions.size());
  for (auto& [key, function] : functions) {
    order.push_back(&function);
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), middle, order.end(), [](const auto* a, const auto* b) {
    return std::tie(a->sampled, a->executed) > std::tie(b->sampled, b->executed);
  });
  std::vector<HotFunction> hottest;
  std::transform(order.begin(), middle, std::back_inserter(hottest),
                 [](HotFunction* function) { return std::move(*function); });
  return hottest;
}

}  // namespace sp::report
