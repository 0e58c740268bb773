#include "profiler/tree/context_nodes.h"

#include <algorithm>

namespace sp::profiler {
namespace {

std::uint64_t context_hash(std::uint32_t parent, std::uint32_t function, std::uint32_t site) {
  constexpr unsigned kHalf = 32;
  return mixed(std::uint64_t{parent} << kHalf | function, site);
}

}  // namespace

ContextNodes::ContextNodes(const Limits& limits) : limits_(limits) { nodes_.emplace_back(); }

ContextNodes::Placed ContextNodes::child(std::uint32_t parent, std::uint32_t function,
                                         std::optional<core::ModuleOffset> site) {
  const std::uint32_t number = is_base(parent) || !site ? kNone : site_number(*site);
  return find_or_make(parent, function, number);
}

std::uint32_t ContextNodes::thread(std::uint32_t number) {
  return find_or_make(kRoot, kThread, number).node;
}

ContextNodes::Placed ContextNodes::find_or_make(std::uint32_t parent, std::uint32_t function,
                                                std::uint32_t site) {
  const std::uint64_t hash = context_hash(parent, function, site);
  const std::uint32_t known = index_.find(hash, [&](std::uint32_t id) {
    const Node& node = nodes_[id];
    return node.parent == parent && node.function == function && node.site == site;
  });
  if (known != kNone) {
    return {known, Place::own};
  }
  if (nodes_[parent].depth >= limits_.depth) {
    return {folded_into(parent, function), Place::folded};
  }
  if (nodes_.size() >= limits_.nodes) {
    return {parent, Place::collapsed};
  }
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  if (nodes_.size() == nodes_.capacity()) {
    // Doubling beyond the limit would waste up to half of the memory that it bounds.
    nodes_.reserve(std::min(nodes_.size() * 2, std::max(limits_.nodes, nodes_.size() + 1)));
  }
  nodes_.push_back({.parent = parent,
                    .function = function,
                    .site = site,
                    .depth = nodes_[parent].depth + 1,
                    .next_sibling = nodes_[parent].first_child});
  nodes_[parent].first_child = id;
  index_.insert(id, [this](std::uint32_t one) {
    return context_hash(nodes_[one].parent, nodes_[one].function, nodes_[one].site);
  });
  return {id, Place::own};
}

/// A recursion goes on in the innermost node of its function.
std::uint32_t ContextNodes::folded_into(std::uint32_t parent, std::uint32_t function) const {
  for (std::uint32_t node = parent; !is_base(node); node = nodes_[node].parent) {
    if (nodes_[node].function == function) {
      return node;
    }
  }
  return parent;
}

bool ContextNodes::is_within(std::uint32_t node, std::uint32_t ancestor) const {
  while (node != kNone && node > ancestor) {
    node = nodes_[node].parent;
  }
  return node == ancestor;
}

std::uint32_t ContextNodes::site_number(core::ModuleOffset site) {
  const auto [known, is_new] =
      site_numbers_.try_emplace(site, static_cast<std::uint32_t>(sites_.size()));
  if (is_new) {
    sites_.push_back(site);
  }
  return known->second;
}

}  // namespace sp::profiler
