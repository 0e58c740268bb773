#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/code_counts.h"

/// A finished run as its files have it: what the writers of other programs' formats take.
namespace sp::profiler {

struct RecordedModule {
  std::string path;
  std::string kind;  // "file", "vdso", "jit", "unknown"
  std::string build_id;
  std::uint64_t base = 0;
};

/// run.json
struct RecordedRun {
  std::string name;
  std::string command;          // one line
  std::string version;          // of the superprofiler that recorded it
  std::int64_t started_ns = 0;  // since 1970
  double elapsed_seconds = 0;
  bool wall = false;
  std::uint64_t samples = 0;
  std::uint64_t with_stack = 0;
  std::uint64_t cpu_ns = 0;  // of the target; 0 if unknown
  std::string counts_kind;   // of all blocks: "exact", "mixed", ..; "" if nothing was counted
  std::vector<RecordedModule> modules;
  std::string program{};     // the command's first word
  std::uint64_t on_cpu = 0;  // of the samples
  /// Nothing that ran in a counted module is without a count: --single, or -a.
  bool counts_all = false;
  double interval_us = 0;  // mean, between samples; 0 if unknown

  /// "sampled, on-CPU, 4,218 samples", "not sampled"
  [[nodiscard]] std::string sampling() const;
  /// The CPU time that one sample stands for: an equal share of the target's; 0 if unknown.
  [[nodiscard]] std::uint64_t ns_per_sample() const;
};

/// A row of functions.tsv, or a frame of stacks.folded that is none of them.
struct RecordedFunction {
  std::string name;
  std::string module;      // "" if unknown: a marker, a thread, or the name is in several modules
  std::string file;        // "" if unknown
  std::uint64_t line = 0;  // with most of its samples
  std::uint64_t self_samples = 0;
  std::uint64_t total_samples = 0;
  std::optional<std::uint64_t> calls{};
  std::string calls_kind{};
};

/// The distinct stacks of a run. They can be read several times and are never all in memory.
class StackSource {
 public:
  /// Gets a stack, outermost function first, as numbers of functions(), and its samples.
  using Visit = std::function<void(std::span<const std::uint32_t>, std::uint64_t)>;

  StackSource() = default;
  StackSource(const StackSource&) = delete;
  StackSource& operator=(const StackSource&) = delete;
  virtual ~StackSource() = default;

  [[nodiscard]] virtual std::span<const RecordedFunction> functions() const = 0;
  virtual void for_each(const Visit& visit) = 0;
};

/// blocks.tsv and edges.tsv
struct RecordedCode {
  struct Function {
    std::uint32_t module = 0;
    std::string name;
    std::uint64_t start = 0;
  };
  struct Block {
    std::uint32_t function = 0;
    std::uint32_t file = 0;
    std::uint32_t line = 0;  // 0 if unknown
    std::uint32_t size = 0;  // bytes
    std::uint32_t instructions = 0;
    std::uint64_t offset = 0;
    std::uint64_t hits = 0;
    bool until = false;      // not counted to the end
    std::uint32_t kind = 0;  // of kinds

    [[nodiscard]] std::uint64_t executed() const { return hits * instructions; }
  };
  struct Edge {
    std::uint32_t from_module = 0;
    std::uint32_t to_module = 0;
    core::EdgeFlow flow = core::EdgeFlow::jump;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    std::uint64_t hits = 0;
    bool to_the_end = true;  // kind "exact"
    bool until = false;      // not counted to the end; else perhaps not from the start
    std::uint32_t kind = 0;  // of kinds
  };
  std::vector<std::string> modules;
  std::vector<std::string> files;   // the first is "": unknown
  std::vector<Function> functions;  // by module and start
  std::vector<Block> blocks;        // by function and offset
  std::vector<Edge> edges;
  std::uint64_t blocks_to_the_end = 0;  // kind "exact"
  std::vector<std::string> kinds{};     // of the hits: "exact", "exact-since:2.000"
};

}  // namespace sp::profiler
