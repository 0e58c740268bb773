#include "commands/diff/difference_flame.h"

#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "profiler/text.h"

namespace sp::diff {
namespace {

using profiler::CallTree;

class TreeBuilder {
 public:
  TreeBuilder(profiler::NamedProfile& profile, const std::set<std::string>& rebuilt)
      : profile_(profile), rebuilt_(rebuilt) {}

  /// Calls take(node, samples) for each stack of `stacks`.
  template <typename Take>
  void add(profiler::StackSource& stacks, Take take) {
    std::vector<std::uint32_t> numbers;  // by function of `stacks`, which may find more as it reads
    stacks.for_each([&](std::span<const std::uint32_t> frames, std::uint64_t samples) {
      const auto functions = stacks.functions();
      while (numbers.size() < functions.size()) {
        numbers.push_back(number_of(functions[numbers.size()]));
      }
      std::uint32_t node = CallTree::kRoot;
      for (const std::uint32_t frame : frames) {
        node = profile_.tree.child(node, numbers[frame]);
      }
      take(node, samples);
    });
  }

 private:
  std::uint32_t number_of(const profiler::RecordedFunction& function) {
    const std::string module(profiler::base_name(function.module));
    FunctionKey key{module, rebuilt_.contains(module) ? name_across_builds(function.name, module)
                                                      : function.name};
    const auto [place, is_new] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(profile_.functions.size()));
    if (is_new) {
      profile_.functions.push_back(
          {place->first.name, function.module, "", profiler::FunctionKind::unknown, 0, 0});
    }
    return place->second;
  }

  profiler::NamedProfile& profile_;
  const std::set<std::string>& rebuilt_;
  std::map<FunctionKey, std::uint32_t> numbers_;
};

}  // namespace

DifferenceFlame difference_flame(const std::vector<RunStacks>& before,
                                 const std::vector<RunStacks>& after,
                                 const std::set<std::string>& rebuilt) {
  DifferenceFlame flame;
  CallTree& tree = flame.profile.tree;
  TreeBuilder builder(flame.profile, rebuilt);
  double ns = 0;
  double samples_after = 0;
  for (const RunStacks& run : after) {
    builder.add(*run.stacks, [&](std::uint32_t node, std::uint64_t samples) {
      tree.add_self(node, samples);
      ns += static_cast<double>(samples) * run.ns_per_stack;
      samples_after += static_cast<double>(samples);
    });
  }
  // What a sample of the picture stands for, in one run.
  const double unit =
      samples_after > 0 ? ns / samples_after / static_cast<double>(after.size()) : 0;
  std::vector<double> old_samples;  // by node
  for (const RunStacks& run : before) {
    const double scale =
        unit > 0 ? run.ns_per_stack / static_cast<double>(before.size()) / unit : 0;
    builder.add(*run.stacks, [&](std::uint32_t node, std::uint64_t samples) {
      old_samples.resize(tree.nodes().size());
      old_samples[node] += static_cast<double>(samples) * scale;
    });
  }
  old_samples.resize(tree.nodes().size());
  const std::vector<std::uint64_t> totals = tree.totals();
  double all = 0;
  for (std::size_t node = tree.nodes().size(); node-- > 0;) {
    all = old_samples[node];
    const std::uint32_t parent = tree.nodes()[node].parent;
    if (node != CallTree::kRoot) {
      old_samples[parent] += old_samples[node];
      const bool begins_here =
          totals[node] == 0 && (totals[parent] > 0 || parent == CallTree::kRoot);
      flame.gone += begins_here ? old_samples[node] : 0;
    }
  }
  flame.gone = all > 0 ? flame.gone / all : 0;
  for (const double samples : old_samples) {
    flame.before.samples.push_back(static_cast<std::uint64_t>(std::llround(samples)));
  }
  return flame;
}

}  // namespace sp::diff
