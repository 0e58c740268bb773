#include "profiler/probed_profile.h"

#include <algorithm>

namespace sp::profiler {
namespace {

using Told = core::ProbedBlock<core::ModuleOffset>;
using Block = ProbedProfile::Block;
using Moment = std::optional<core::TimePoint>;

Moment later(const Moment& a, const Moment& b) { return a && b ? std::max(a, b) : a ? a : b; }
Moment earlier(const Moment& a, const Moment& b) { return a && b ? std::min(a, b) : a ? a : b; }

/// When `block` was last hit, as far as it was.
Moment last_hit_of(const Told& block) { return block.hits > 0 ? Moment(block.last_hit) : Moment(); }

void add_hits(Block& sum, const Told& told) {
  if (told.hits == 0) {
    return;
  }
  const bool is_first = sum.hits == 0;
  sum.first_hit = is_first ? told.first_hit : std::min(sum.first_hit, told.first_hit);
  sum.last_hit = is_first ? told.last_hit : std::max(sum.last_hit, told.last_hit);
  sum.hits += told.hits;
}

/// Goes before add_hits(): looks at the hits of before.
void settle_size(Block& sum, const Told& told) {
  sum.widest = std::max(sum.widest, told.size);
  if (told.size > sum.size) {
    sum.wide_hit = later(sum.wide_hit, last_hit_of(told));
    return;
  }
  if (told.size < sum.size) {
    sum.wide_hit = later(sum.wide_hit, last_hit_of(sum));
  }
  sum.size = told.size;
  sum.instructions = told.instructions;
  sum.last = told.last;
  sum.falls_through = told.falls_through;
}

}  // namespace

void ProbedProfile::add(const core::ProbeCountsTaken& taken) {
  for (const Told& block : taken.code.blocks) {
    add(block);
  }
  for (const Edge& edge : taken.code.edges) {
    edges_.add(edge);
  }
}

void ProbedProfile::add(const core::CodeExplored& explored) {
  explored_.windows += explored.windows;
  explored_.steps += explored.steps;
  explored_.branches += explored.branches;
  explored_.disagreements += explored.disagreements;
}

void ProbedProfile::add(const Told& told) {
  const std::uint32_t known = block_index_.find(
      hash_of(told.start), [&](std::uint32_t id) { return blocks_[id].start == told.start; });
  if (known != IdIndex::kNone) {
    Block& sum = blocks_[known];
    settle_size(sum, told);
    add_hits(sum, told);
    sum.since = later(sum.since, told.since);
    sum.until = earlier(sum.until, told.until);
    return;
  }
  if (blocks_.size() >= max_blocks_) {
    dropped_hits_ += told.hits;
    return;
  }
  blocks_.push_back({told, told.size});
  block_index_.insert(static_cast<std::uint32_t>(blocks_.size() - 1),
                      [this](std::uint32_t id) { return hash_of(blocks_[id].start); });
}

}  // namespace sp::profiler
