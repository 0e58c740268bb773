#include "profiler/probed_profile.h"

#include <algorithm>

namespace sp::profiler {
namespace {

using Reported = core::ProbedBlock<core::ModuleOffset>;
using Block = ProbedProfile::Block;
using OptionalTime = std::optional<core::TimePoint>;

OptionalTime later(const OptionalTime& a, const OptionalTime& b) {
  return a && b ? std::max(a, b) : a ? a : b;
}
OptionalTime earlier(const OptionalTime& a, const OptionalTime& b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

/// When `block` was last hit; nothing if it never was.
OptionalTime last_hit_of(const Reported& block) {
  return block.hits > 0 ? OptionalTime(block.last_hit) : OptionalTime();
}

void add_hits(Block& sum, const Reported& reported) {
  if (reported.hits == 0) {
    return;
  }
  const bool is_first = sum.hits == 0;
  sum.first_hit = is_first ? reported.first_hit : std::min(sum.first_hit, reported.first_hit);
  sum.last_hit = is_first ? reported.last_hit : std::max(sum.last_hit, reported.last_hit);
  sum.hits += reported.hits;
}

/// Call before add_hits(): compares with the hits so far.
void adopt_size(Block& sum, const Reported& reported) {
  sum.widest = std::max(sum.widest, reported.size);
  if (reported.size > sum.size) {
    sum.wide_hit = later(sum.wide_hit, last_hit_of(reported));
    return;
  }
  if (reported.size < sum.size) {
    sum.wide_hit = later(sum.wide_hit, last_hit_of(sum));
  }
  sum.size = reported.size;
  sum.instructions = reported.instructions;
  sum.last = reported.last;
  sum.falls_through = reported.falls_through;
  sum.flow = reported.flow;
  sum.leads_to = reported.leads_to;
}

}  // namespace

void ProbedProfile::add(const core::ProbeCountsTaken& taken) {
  for (const Reported& block : taken.code.blocks) {
    add(block);
  }
  for (const Edge& edge : taken.code.edges) {
    edges_.add(edge);
  }
  const std::size_t room = max_blocks_ - std::min(max_blocks_, functions_.size());
  const auto& functions = taken.code.functions;
  functions_.insert(
      functions_.end(), functions.begin(),
      functions.begin() + static_cast<std::ptrdiff_t>(std::min(functions.size(), room)));
}

void ProbedProfile::forget_counts() {
  for (Block& block : blocks_) {
    block.hits = 0;
    block.wide_hit.reset();
  }
  edges_.clear();
  explored_ = {};
  dropped_hits_ = 0;
}

void ProbedProfile::add(const core::CodeExplored& explored) {
  explored_.windows += explored.windows;
  explored_.steps += explored.steps;
  explored_.branches += explored.branches;
  explored_.disagreements += explored.disagreements;
}

void ProbedProfile::add(const Reported& reported) {
  const std::uint32_t known = block_index_.find(hash_of(reported.start), [&](std::uint32_t id) {
    return blocks_[id].start == reported.start;
  });
  if (known != IdIndex::kNone) {
    Block& sum = blocks_[known];
    adopt_size(sum, reported);
    add_hits(sum, reported);
    sum.since = later(sum.since, reported.since);
    sum.until = earlier(sum.until, reported.until);
    sum.edges_until = earlier(sum.edges_until, reported.edges_until);
    sum.is_jumped_to = sum.is_jumped_to || reported.is_jumped_to;
    sum.is_known = sum.is_known || reported.is_known;
    return;
  }
  if (blocks_.size() >= max_blocks_) {
    dropped_hits_ += reported.hits;
    return;
  }
  blocks_.push_back({reported, reported.size});
  block_index_.insert(static_cast<std::uint32_t>(blocks_.size() - 1),
                      [this](std::uint32_t id) { return hash_of(blocks_[id].start); });
}

}  // namespace sp::profiler
