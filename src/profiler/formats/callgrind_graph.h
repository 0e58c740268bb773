#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/inclusive_cost.h"
#include "profiler/recorded_run.h"

namespace sp::profiler {

/// Counted functions, blocks and edges joined with the functions of stacks: what a callgrind file
/// has, without its syntax.
class CallgrindGraph {
 public:
  struct Node {
    std::string_view module;
    std::string_view name;
    std::string_view file;
    std::uint64_t start = 0;  // offset of its first instruction; 0 if it was not counted
    std::uint64_t line = 0;   // with most of its samples; 0 if unknown
    std::uint64_t samples = 0;
    std::uint64_t calls = 0;  // 0 if they were not counted
    std::uint64_t executed = 0;
  };
  /// Calls from one instruction.
  struct Call {
    std::uint32_t block = 0;
    std::uint32_t to_node = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint32_t to_line = 0;
    std::uint64_t calls = 0;
    std::uint64_t executed = 0;  // inclusive, estimated
    bool to_the_end = true;      // `calls` are all that there were
  };
  /// Jumps within a function.
  struct Jump {
    std::uint32_t block = 0;
    std::uint32_t to_line = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t taken = 0;
    std::uint64_t executed = 0;
    bool conditional = false;
  };

  /// `code` is null if nothing was counted. Reads the stacks once. Keeps views of both.
  CallgrindGraph(const RecordedCode* code, StackSource& stacks);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// By block, then by the instruction.
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  [[nodiscard]] const std::vector<Jump>& jumps() const { return jumps_; }
  /// Calls that stacks show.
  struct SampledCall {
    std::uint64_t samples = 0;   // in the callee or below it
    std::uint64_t executed = 0;  // inclusive, estimated; 0 if calls of the callee were counted
  };
  using SampledCalls = std::map<std::uint32_t, SampledCall>;  // by callee
  [[nodiscard]] const SampledCalls& sampled_calls(std::uint32_t from) const;

 private:
  void add_counted_functions();
  void add_sampled_functions(StackSource& stacks);
  void add_stacks(StackSource& stacks);
  void add_edges();
  void add_jump(const RecordedCode::Edge& edge, std::uint32_t block, std::uint64_t fell_through);
  void estimate_inclusive();
  [[nodiscard]] const std::uint32_t* block_with(std::uint32_t module, std::uint64_t offset) const;

  const RecordedCode* code_;
  std::vector<Node> nodes_;  // the functions of `code` first, with their numbers
  std::vector<std::uint32_t> node_of_sampled_;
  std::vector<std::uint32_t> blocks_by_place_;  // by module and offset
  std::vector<Call> calls_;
  std::vector<Jump> jumps_;
  std::map<std::uint32_t, SampledCalls> sampled_calls_;  // by caller
};

}  // namespace sp::profiler
