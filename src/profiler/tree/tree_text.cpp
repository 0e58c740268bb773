#include "profiler/tree/tree_text.h"

#include <fmt/format.h>

#include "profiler/text.h"

namespace sp::profiler {

std::string tree_text(const WrittenTree& tree) {
  std::string text = fmt::format("tree: {} calls in {} contexts (tree.json)", grouped(tree.calls),
                                 grouped(tree.nodes));
  if (tree.folded > 0) {
    text += fmt::format("; {} deeper than 256 count at the recursion's innermost node",
                        grouped(tree.folded));
  }
  if (tree.collapsed > 0) {
    text += fmt::format("; {} found it full and count at an outer node", grouped(tree.collapsed));
  }
  if (tree.lost > 0) {
    text += fmt::format("; {} events are lost", grouped(tree.lost));
  }
  if (tree.ended > 0) {
    text += fmt::format(
        "; of {} {} calls were seen for a part of the run only: more than --overhead allows (-a "
        "sees all, --only-funcs and --filters choose)",
        grouped(tree.ended), tree.ended == 1 ? "function" : "functions");
  }
  return text;
}

}  // namespace sp::profiler
