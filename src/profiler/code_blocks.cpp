#include "profiler/code_blocks.h"

#include <algorithm>
#include <unordered_map>

namespace sp::profiler {
namespace {

using Edge = CodeProfile::Edge;

/// Does the work of derive_blocks(), which names the steps below in their order.
class CodeBlockDerivation {
 public:
  CodeBlockDerivation(const CodeProfile& profile, std::uint64_t threads, bool may_leave)
      : profile_(profile), threads_(threads), may_leave_(may_leave) {}

  CountedCode run() {
    for (const Edge& edge : profile_.edges()) {
      code_.edges.push_back({edge});
    }
    sum_incoming_edges();
    for (const core::ModuleOffset leader : leaders_) {
      make_block(leader);
    }
    if (!may_leave_) {
      check();
    }
    return std::move(code_);
  }

 private:
  struct Incoming {
    std::uint64_t hits = 0;
    core::TimePoint first;
    core::TimePoint last;
  };

  /// Only addresses that were entered are leaders: a run that was reported but never executed
  /// splits no block.
  void sum_incoming_edges() {
    for (const Edge& edge : profile_.edges()) {
      if (profile_.run_at(edge.to) == nullptr) {
        code_.unplaced_hits += edge.hits;
      } else {
        enter(edge.to, {edge.hits, edge.first, edge.last});
      }
    }
    leaders_.reserve(incoming_.size());
    for (const auto& [where, incoming] : incoming_) {
      leaders_.push_back(where);
    }
    std::sort(leaders_.begin(), leaders_.end());
  }

  void enter(core::ModuleOffset where, const Incoming& more) {
    const auto [place, is_new] = incoming_.try_emplace(where, more);
    if (!is_new) {
      Incoming& sum = place->second;
      sum.hits += more.hits;
      sum.first = std::min(sum.first, more.first);
      sum.last = std::max(sum.last, more.last);
    }
  }

  /// Call in address order: a block that falls through into a leader precedes it, so the leader's
  /// hits are complete by then.
  void make_block(core::ModuleOffset leader) {
    const Incoming incoming = incoming_.at(leader);
    CodeBlock block{leader, leader.offset, 0, 0, incoming.hits, incoming.first, incoming.last};
    for (const std::uint8_t length : profile_.lengths(*profile_.run_at(leader))) {
      const core::ModuleOffset next{leader.module, leader.offset + block.size};
      if (block.size > 0 && incoming_.contains(next)) {
        fall_through(block, next, incoming);
        break;
      }
      block.last = next.offset;
      block.size += length;
      ++block.instructions;
    }
    code_.blocks.push_back(block);
  }

  void fall_through(const CodeBlock& block, core::ModuleOffset next, const Incoming& incoming) {
    enter(next, incoming);
    code_.edges.push_back({{{block.start.module, block.last},
                            next,
                            core::EdgeFlow::fallthrough,
                            incoming.hits,
                            incoming.first,
                            incoming.last}});
  }

  void check() {
    struct Flow {
      std::uint64_t in = 0;
      std::uint64_t out = 0;
    };
    std::unordered_map<core::ModuleOffset, Flow> flows;
    for (const CodeBlock& block : code_.blocks) {
      flows[{block.start.module, block.last}].in += block.hits;
    }
    for (const Edge& edge : code_.edges) {
      if (edge.flow != core::EdgeFlow::entry) {
        flows[edge.from].out += edge.hits;
      }
    }
    CodeConsistency& result = code_.consistency;
    for (const auto& [where, flow] : flows) {
      ++result.checked;
      const bool left_more = flow.out > flow.in;
      const std::uint64_t difference = left_more ? flow.out - flow.in : flow.in - flow.out;
      result.unfinished += left_more ? 0 : difference;
      if (difference > threads_) {
        ++(flow.out == 0 ? result.never_left : result.disagreeing);
      }
    }
  }

  const CodeProfile& profile_;
  std::uint64_t threads_;
  bool may_leave_;
  std::unordered_map<core::ModuleOffset, Incoming> incoming_;
  std::vector<core::ModuleOffset> leaders_;
  CountedCode code_;
};

}  // namespace

CountedCode derive_blocks(const CodeProfile& profile, std::uint64_t threads, bool may_leave) {
  return CodeBlockDerivation(profile, threads, may_leave).run();
}

std::uint64_t executions(const CountedCode& code) {
  std::uint64_t sum = 0;
  for (const CodeBlock& block : code.blocks) {
    sum += block.hits;
  }
  return sum;
}

std::uint64_t executed_instructions(const CountedCode& code) {
  std::uint64_t sum = 0;
  for (const CodeBlock& block : code.blocks) {
    sum += block.hits * block.instructions;
  }
  return sum;
}

}  // namespace sp::profiler
