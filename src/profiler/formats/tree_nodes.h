#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "profiler/tree/context_tree.h"
#include "profiler/tree/tree_ids.h"

namespace sp::profiler {

/// The numbers of one node.
struct NodeCounts {
  std::uint64_t calls = 0;
  std::uint64_t self = 0;  // samples
};

/// By node.
[[nodiscard]] std::vector<NodeCounts> node_counts(const ContextNodes& nodes);

/// The texts of nodes; without one they have numbers only.
struct NodeTexts {
  std::function<std::string(core::ModuleOffset start)> name{};
  std::function<std::string(core::ThreadId)> thread_name{};
};

/// Appends a tree as JSON: NODE = {functionAddress, callSiteAddress, nCalls, nSamples (inclusive),
/// self, function, name, callees: [NODE]}; a thread's has {thread, name} instead of a function.
/// What is 0 is left out, and so is a node without numbers that leads to none; the root is always
/// there. With `spill` each node has a line, and the text is moved there as it grows.
void append_nodes(std::string& out, const ContextTree& tree, const std::vector<NodeCounts>& counts,
                  TreeIds& ids, const NodeTexts& texts, std::ostream* spill = nullptr);

}  // namespace sp::profiler
