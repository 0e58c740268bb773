#include "profiler/formats/tree_nodes.h"

#include <ostream>

#include "profiler/formats/compact_json.h"

namespace sp::profiler {
namespace {

constexpr std::size_t kSpilledAt = std::size_t{1} << 20U;

class NodeWriter {
 public:
  NodeWriter(std::string& out, const ContextTree& tree, const std::vector<NodeCounts>& counts,
             TreeIds& ids, const NodeTexts& texts, std::ostream* spill)
      : out_(out),
        json_(out),
        tree_(tree),
        nodes_(tree.nodes().all()),
        counts_(counts),
        ids_(ids),
        texts_(texts),
        spill_(spill),
        samples_(counts.size()),
        is_shown_(counts.size()) {}

  void write() {
    sum_up();
    std::uint32_t node = ContextNodes::kRoot;
    bool is_new = true;
    while (true) {
      if (is_new) {
        open(node);
        const std::uint32_t child = shown(nodes_[node].first_child);
        if (child != ContextNodes::kNone) {
          json_.key("callees").open('[');
          node = child;
          continue;
        }
      }
      json_.close('}');
      if (node == ContextNodes::kRoot) {
        return;
      }
      const std::uint32_t sibling = shown(nodes_[node].next_sibling);
      is_new = sibling != ContextNodes::kNone;
      if (!is_new) {
        json_.close(']');
      }
      node = is_new ? sibling : nodes_[node].parent;
    }
  }

 private:
  /// A parent has a smaller number than its children.
  void sum_up() {
    is_shown_[ContextNodes::kRoot] = true;
    for (std::size_t node = counts_.size(); node-- > 0;) {
      samples_[node] += counts_[node].self;
      const bool has_numbers = counts_[node].calls != 0 || counts_[node].self != 0;
      is_shown_[node] = is_shown_[node] || has_numbers;
      if (node != ContextNodes::kRoot) {
        const std::uint32_t parent = nodes_[node].parent;
        samples_[parent] += samples_[node];
        is_shown_[parent] = is_shown_[parent] || is_shown_[node];
      }
    }
  }

  [[nodiscard]] std::uint32_t shown(std::uint32_t node) const {
    while (node != ContextNodes::kNone && !is_shown_[node]) {
      node = nodes_[node].next_sibling;
    }
    return node;
  }

  void open(std::uint32_t node) {
    if (spill_ != nullptr && node != ContextNodes::kRoot) {
      new_line();
    }
    json_.open('{');
    const ContextNodes::Node& one = nodes_[node];
    if (one.function == ContextNodes::kThread) {
      write_thread(tree_.threads()[one.site]);
    } else if (one.function != ContextNodes::kNone) {
      write_function(one);
    }
    json_.count("nCalls", counts_[node].calls);
    json_.count("nSamples", samples_[node]);
    json_.count("self", counts_[node].self);
  }

  void new_line() {
    out_ += out_.ends_with('[') ? "\n" : ",\n";
    if (out_.size() >= kSpilledAt) {
      out_.pop_back();  // the line end stays: no comma comes behind it
      *spill_ << out_;
      out_.assign(1, '\n');
    }
  }

  void write_thread(core::ThreadId thread) {
    json_.key("thread").number(static_cast<std::uint64_t>(thread.tid));
    if (texts_.thread_name) {
      json_.key("name").string(texts_.thread_name(thread));
    }
  }

  void write_function(const ContextNodes::Node& node) {
    const core::ModuleOffset start = tree_.functions().all()[node.function].start;
    json_.key("functionAddress").number(ids_.address(start));
    if (node.site != ContextNodes::kNone) {
      json_.key("callSiteAddress").number(ids_.address(tree_.nodes().sites()[node.site]));
    }
    json_.key("function").number(ids_.function(start));
    if (texts_.name) {
      json_.key("name").string(texts_.name(start));
    }
  }

  std::string& out_;
  CompactJson json_;
  const ContextTree& tree_;
  const std::vector<ContextNodes::Node>& nodes_;
  const std::vector<NodeCounts>& counts_;
  TreeIds& ids_;
  const NodeTexts& texts_;
  std::ostream* const spill_;
  std::vector<std::uint64_t> samples_;  // inclusive
  std::vector<bool> is_shown_;
};

}  // namespace

std::vector<NodeCounts> node_counts(const ContextNodes& nodes) {
  std::vector<NodeCounts> counts;
  counts.reserve(nodes.all().size());
  for (const ContextNodes::Node& node : nodes.all()) {
    counts.push_back({node.calls, node.self});
  }
  return counts;
}

void append_nodes(std::string& out, const ContextTree& tree, const std::vector<NodeCounts>& counts,
                  TreeIds& ids, const NodeTexts& texts, std::ostream* spill) {
  NodeWriter(out, tree, counts, ids, texts, spill).write();
}

}  // namespace sp::profiler
