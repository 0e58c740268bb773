#include "profiler/push/named_stacks.h"

#include <charconv>
#include <utility>

namespace sp::profiler {
namespace {

/// "file:line"
void put_source(const std::string& source, RecordedFunction& function) {
  const std::size_t colon = source.rfind(':');
  if (colon == std::string::npos) {
    return;
  }
  function.file = source.substr(0, colon);
  (void)std::from_chars(source.data() + colon + 1, source.data() + source.size(), function.line);
}

}  // namespace

NamedStacks::NamedStacks(const NamedProfile& named) : named_(named) {
  for (const Function& function : named.functions) {
    RecordedFunction row;
    row.name = function.name;
    row.module = function.module;
    row.self_samples = function.self;
    row.total_samples = function.total;
    put_source(function.source, row);
    functions_.push_back(std::move(row));
  }
}

void NamedStacks::for_each(const Visit& visit) {
  const std::vector<std::uint32_t> any_order(functions_.size());
  const SortedChildren children(named_.tree, any_order);
  std::vector<std::uint32_t> stack;
  walk(
      children,
      [&](std::uint32_t node, std::size_t depth) {
        stack.resize(depth);
        stack.push_back(named_.tree.nodes()[node].function);
        if (named_.tree.nodes()[node].self > 0) {
          visit(stack, named_.tree.nodes()[node].self);
        }
      },
      [](std::uint32_t /*node*/) {});
}

}  // namespace sp::profiler
