#include "profiler/formats/folded.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "profiler/text.h"

namespace sp::profiler {

void write_folded(std::ostream& out, const NamedProfile& profile) {
  std::vector<std::string> names(profile.functions.size());
  std::transform(profile.functions.begin(), profile.functions.end(), names.begin(),
                 [](const Function& function) { return folded_name(function.name); });
  const std::vector<std::uint32_t> rank = name_ranks(profile.functions);
  const SortedChildren children(profile.tree, rank);
  const std::vector<CallTree::Node>& nodes = profile.tree.nodes();
  std::string stack;
  std::vector<std::size_t> ends = {0};  // of the stack's text, by depth
  walk(
      children,
      [&](std::uint32_t node, std::size_t depth) {
        stack.resize(ends[depth]);
        if (depth > 0) {
          stack += ';';
        }
        stack += names[nodes[node].function];
        ends.resize(depth + 1);
        ends.push_back(stack.size());
        if (nodes[node].self > 0) {
          out << stack << ' ' << nodes[node].self << '\n';
        }
      },
      [](std::uint32_t) {});
}

void write_folded(std::ostream& out, StackSource& stacks) {
  std::vector<std::string> names;
  for (const RecordedFunction& function : stacks.functions()) {
    names.push_back(folded_name(function.name));
  }
  stacks.for_each([&](std::span<const std::uint32_t> frames, std::uint64_t samples) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      out << (i == 0 ? "" : ";") << names[frames[i]];
    }
    out << ' ' << samples << '\n';
  });
}

}  // namespace sp::profiler
