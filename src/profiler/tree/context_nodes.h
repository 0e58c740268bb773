#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "profiler/id_index.h"

namespace sp::profiler {

/// The nodes of a calling-context tree: which function was called, from where, in which context.
/// Functions are numbers of the owner's. Memory is bounded: what finds no node of its own counts at
/// another one, and the caller is told.
class ContextNodes {
 public:
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 22U;
  static constexpr std::uint32_t kMaxDepth = 256;
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = IdIndex::kNone;
  /// Stands for a function: the node is that of the thread with the number `site`.
  static constexpr std::uint32_t kThread = kNone - 1;

  struct Limits {
    std::size_t nodes = kMaxNodes;
    std::uint32_t depth = kMaxDepth;
  };
  /// A node's parent has a smaller number.
  struct Node {
    std::uint32_t parent = kNone;
    std::uint32_t function = kNone;
    std::uint32_t site = kNone;  // of sites(): one byte in front of where the call returns to
    std::uint32_t depth = 0;     // of the root 0
    std::uint32_t first_child = kNone;
    std::uint32_t next_sibling = kNone;
    std::uint64_t calls = 0;
    std::uint64_t self = 0;  // samples that ended here
  };
  enum class Place : std::uint8_t {
    own,
    folded,     // too deep: a node further out of the same function, or the parent
    collapsed,  // the tree is full: the parent
  };
  struct Placed {
    std::uint32_t node = kRoot;
    Place place = Place::own;
  };

  explicit ContextNodes(const Limits& limits);

  /// The node of a call from `parent`. Nodes under the root and under a thread have no call site.
  Placed child(std::uint32_t parent, std::uint32_t function,
               std::optional<core::ModuleOffset> site);
  /// The node under the root of a thread; the root itself if the tree is full.
  std::uint32_t thread(std::uint32_t number);
  void count_call(std::uint32_t node) { ++nodes_[node].calls; }
  void count_samples(std::uint32_t node, std::uint64_t samples) { nodes_[node].self += samples; }

  [[nodiscard]] const std::vector<Node>& all() const { return nodes_; }
  [[nodiscard]] const std::vector<core::ModuleOffset>& sites() const { return sites_; }
  [[nodiscard]] bool is_within(std::uint32_t node, std::uint32_t ancestor) const;

 private:
  [[nodiscard]] bool is_base(std::uint32_t node) const {
    return node == kRoot || nodes_[node].function == kThread;
  }
  [[nodiscard]] Placed find_or_make(std::uint32_t parent, std::uint32_t function,
                                    std::uint32_t site);
  [[nodiscard]] std::uint32_t folded_into(std::uint32_t parent, std::uint32_t function) const;
  [[nodiscard]] std::uint32_t site_number(core::ModuleOffset site);

  const Limits limits_;
  std::vector<Node> nodes_;
  IdIndex index_;
  std::vector<core::ModuleOffset> sites_;
  std::unordered_map<core::ModuleOffset, std::uint32_t> site_numbers_;
};

}  // namespace sp::profiler
