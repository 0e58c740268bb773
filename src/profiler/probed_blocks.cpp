#include "profiler/probed_blocks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace sp::profiler {
namespace {

/// Does the work of probed_blocks(), which names the steps below in their order.
class ProbedBlockDerivation {
 public:
  ProbedBlockDerivation(const ProbedProfile& profile, std::uint64_t threads)
      : threads_(threads), edges_(profile.edges()) {
    for (const ProbedProfile::Block& block : profile.blocks()) {
      reported_.push_back(&block);
    }
    std::sort(reported_.begin(), reported_.end(),
              [](const auto* a, const auto* b) { return a->start < b->start; });
  }

  CountedCode run() {
    for (const ProbedProfile::Block* block : reported_) {
      take(*block);
    }
    for (std::size_t i = 0; i < reported_.size(); ++i) {
      limit_inner_blocks(i);
    }
    for (const ProbedProfile::Edge& edge : edges_) {
      take(edge);
    }
    for (std::size_t i = 0; i < reported_.size(); ++i) {
      fall_through(i);
    }
    check();
    return std::move(code_);
  }

 private:
  struct Flow {
    std::uint64_t in = 0;  // from blocks of the same span
    std::uint64_t out = 0;
  };

  void take(const ProbedProfile::Block& reported) {
    code_.blocks.push_back({reported.start,
                            reported.start.offset + reported.last,
                            reported.size,
                            reported.instructions,
                            reported.hits,
                            reported.first_hit,
                            reported.last_hit,
                            {reported.since, reported.until},
                            reported.is_jumped_to});
  }

  /// While a process executed several blocks as one, only the first one was counted.
  void limit_inner_blocks(std::size_t number) {
    const ProbedProfile::Block& wide = *reported_[number];
    if (!wide.wide_hit) {
      return;
    }
    for (std::size_t i = number + 1; i < reported_.size() && is_within(reported_[i]->start, wide);
         ++i) {
      CountedSpan& span = code_.blocks[i].span;
      span = shared(span, {.since = wide.wide_hit});
    }
  }

  void take(const ProbedProfile::Edge& edge) {
    const auto from = block_of(edge.from);
    if (!from) {
      code_.unplaced_hits += edge.hits;
      return;
    }
    add_edge(*from, edge, {.until = reported_[*from]->edges_until});
  }

  void fall_through(std::size_t number) {
    const CodeBlock& block = code_.blocks[number];
    if (reported_[number]->falls_through && block.hits > 0) {
      add_edge(number,
               {{block.start.module, block.last},
                {block.start.module, block.start.offset + block.size},
                core::EdgeFlow::fallthrough,
                block.hits,
                block.first_hit,
                block.last_hit},
               {});
    }
  }

  /// `counted`: the span of the edge within that of its block.
  void add_edge(std::size_t from, const ProbedProfile::Edge& edge, const CountedSpan& counted) {
    flows_.resize(code_.blocks.size());
    const CountedSpan span = shared(code_.blocks[from].span, counted);
    flows_[from].out += edge.hits;
    const auto to = block_of(edge.to);
    if (to && reported_[*to]->start == edge.to && code_.blocks[*to].span == span) {
      flows_[*to].in += edge.hits;
    }
    code_.edges.push_back({edge, span});
  }

  void check() {
    flows_.resize(code_.blocks.size());
    CodeConsistency& result = code_.consistency;
    for (std::size_t i = 0; i < code_.blocks.size(); ++i) {
      const CodeBlock& block = code_.blocks[i];
      const Flow& flow = flows_[i];
      if (block.span.until || reported_[i]->edges_until || (block.hits == 0 && flow.in == 0)) {
        continue;
      }
      const std::uint64_t inside = above(flow.in, block.hits);
      const std::uint64_t not_left = above(block.hits, flow.out);
      // Edges that left it while it was the end of a larger block are not among its hits.
      const std::uint64_t left_more = block.span.since ? 0 : above(flow.out, block.hits);
      ++result.checked;
      result.unfinished += inside + not_left;
      if (not_left > threads_ && flow.out == 0) {
        ++result.never_left;
      } else if (std::max({inside, not_left, left_more}) > threads_) {
        ++result.disagreeing;
      }
    }
  }

  [[nodiscard]] static std::uint64_t above(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b : 0;
  }

  [[nodiscard]] static bool is_within(core::ModuleOffset where, const ProbedProfile::Block& block) {
    return where.module == block.start.module && where.offset >= block.start.offset &&
           where.offset - block.start.offset < block.widest;
  }

  /// The block that contains `where`; the one that starts last if several do.
  [[nodiscard]] std::optional<std::size_t> block_of(core::ModuleOffset where) const {
    const auto behind = std::upper_bound(
        reported_.begin(), reported_.end(), where,
        [](core::ModuleOffset a, const ProbedProfile::Block* b) { return a < b->start; });
    if (behind == reported_.begin() || !is_within(where, **std::prev(behind))) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(std::prev(behind) - reported_.begin());
  }

  std::uint64_t threads_;
  const std::vector<ProbedProfile::Edge>& edges_;
  std::vector<const ProbedProfile::Block*> reported_;  // by start, as code_.blocks
  std::vector<Flow> flows_;                            // likewise
  CountedCode code_;
};

}  // namespace

CountedCode probed_blocks(const ProbedProfile& profile, std::uint64_t threads) {
  return ProbedBlockDerivation(profile, threads).run();
}

}  // namespace sp::profiler
