#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "core/clock.h"
#include "core/module.h"
#include "core/run_facts.h"
#include "profiler/formats/tree_nodes.h"

namespace sp::profiler {

/// What tree.json says of a run.
struct TreeReport {
  const core::RunFacts& facts;
  std::string version;    // of superprofiler
  bool snapshot = false;  // the run continues
  bool by_thread = false;
  bool wall = false;  // blocked threads were sampled too
  core::TimePoint started{};
  std::span<const core::Module> modules;
};

/// tree.json: the facts in short, what kind the numbers are, then the tree, a node a line.
/// Addresses are those of the process that a module was first seen in.
void write_tree_json(std::ostream& out, const TreeReport& report, const ContextTree& tree,
                     TreeIds& ids, const NodeTexts& texts);

/// "exact", or "mixed" where calls were lost, or some functions were seen for a part of the run.
[[nodiscard]] std::string kind_of_calls(const ContextTree& tree);

}  // namespace sp::profiler
