#include "commands/run_files/recorded_stacks.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profiler/text.h"

namespace sp::run_files {

using profiler::CallTree;
using profiler::Profile;
using profiler::RecordedFunction;

RecordedStacks::RecordedStacks(RecordingFile recording)
    : recording_(std::move(recording)), names_(recording_.reader) {
  build_tree();
  // The rows of a run that was killed are those of its last snapshot.
  if (!recording_.reader.header().finished) {
    sum_functions();
  }
}

void RecordedStacks::build_tree() {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::uint32_t> first_of_name;
  std::vector<std::uint32_t> same_as;
  for (const RecordedFunction& function : names_.functions()) {
    names.push_back(profiler::folded_name(function.name));
    const auto number = static_cast<std::uint32_t>(same_as.size());
    same_as.push_back(first_of_name.try_emplace(names.back(), number).first->second);
  }
  std::vector<std::uint32_t> order(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  ranks_.resize(order.size());
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    ranks_[order[place]] = place;
  }
  const auto& nodes = recording_.reader.nodes();
  const std::vector<std::uint64_t> sums = recording_.reader.sums();
  named_as_.assign(nodes.size(), CallTree::kRoot);
  pc_only_.resize(names.size());
  for (std::uint32_t node = Profile::kPcOnlyRoot + 1; node < nodes.size(); ++node) {
    const auto here = names_.at(nodes[node].place);
    if (nodes[node].parent == Profile::kPcOnlyRoot) {
      pc_only_[here.back()] += sums[node];
      continue;
    }
    std::uint32_t at = named_as_[nodes[node].parent];
    for (const std::uint32_t function : here) {
      at = tree_.child(at, same_as[function]);
    }
    named_as_[node] = at;
    tree_.add_self(at, sums[node]);
  }
}

void RecordedStacks::sum_functions() {
  const auto totals = profiler::inclusive_samples(tree_, names_.functions().size());
  for (std::size_t i = 0; i < totals.size(); ++i) {
    names_.functions()[i].self_samples = pc_only_[i];
    names_.functions()[i].total_samples = totals[i];
  }
  for (const CallTree::Node& node : tree_.nodes()) {
    if (node.self > 0) {
      names_.functions()[node.function].self_samples += node.self;
    }
  }
}

void RecordedStacks::for_each(const Visit& visit) {
  const profiler::SortedChildren children(tree_, ranks_);
  const auto& nodes = tree_.nodes();
  std::vector<std::uint32_t> stack;
  profiler::walk(
      children,
      [&](std::uint32_t node, std::size_t depth) {
        stack.resize(depth);
        stack.push_back(nodes[node].function);
        if (nodes[node].self > 0) {
          visit(stack, nodes[node].self);
        }
      },
      [](std::uint32_t) {});
}

std::vector<std::uint32_t> RecordedStacks::stack_numbers() const {
  const auto& nodes = tree_.nodes();
  std::vector<std::uint32_t> of_tree(nodes.size());
  std::uint32_t last = 0;
  profiler::walk(
      profiler::SortedChildren(tree_, ranks_),
      [&](std::uint32_t node, std::size_t) { of_tree[node] = nodes[node].self > 0 ? ++last : 0; },
      [](std::uint32_t) {});
  std::vector<std::uint32_t> numbers(named_as_.size());
  for (std::size_t node = 0; node < numbers.size(); ++node) {
    numbers[node] = of_tree[named_as_[node]];
  }
  return numbers;
}

std::vector<RecordedFunction> RecordedStacks::rows() const {
  std::vector<RecordedFunction> rows;
  for (std::uint32_t i = 0; i < names_.functions().size(); ++i) {
    const RecordedFunction& function = names_.functions()[i];
    if (may_be_row(i) &&
        (function.self_samples > 0 || function.total_samples > 0 || function.calls)) {
      rows.push_back(function);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tie(b.self_samples, b.total_samples, b.calls, a.name, a.module) <
           std::tie(a.self_samples, a.total_samples, a.calls, b.name, b.module);
  });
  return rows;
}

}  // namespace sp::run_files
