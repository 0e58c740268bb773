#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/module.h"
#include "profiler/code_blocks.h"
#include "profiler/counted_span.h"
#include "profiler/named_profile.h"
#include "profiler/namer.h"
#include "profiler/pc_samples.h"
#include "profiler/probed_profile.h"

namespace sp::profiler {

/// A function with counted code: the range of one symbol, including what was inlined into it.
struct CodeFunction {
  std::string name;       // demangled, or "module+0x1234"
  core::ModuleId module;  // the same name may stand for several functions
  std::uint64_t start = 0;
  std::string source;  // file:line of its block that executed most instructions; "" if unknown
  std::uint64_t calls = 0;
  bool has_calls = true;  // false: the counts do not tell how often it was called
  CountedSpan calls_span{};
};

struct NamedBlock {
  CodeBlock block;
  std::uint32_t function = 0;  // of NamedCode::functions
  std::string source;          // file:line of its first instruction; "" if unknown
  std::uint64_t samples = 0;   // on-CPU, of the whole run, within the block; by probes only
};

/// Counted code with names: the source of blocks.tsv, edges.tsv and the calls in functions.tsv.
struct NamedCode {
  bool by_probes = false;          // while sampling, and for some blocks during a part of the run
  std::vector<NamedBlock> blocks;  // most hits first, then by module and offset
  std::vector<CountedEdge> edges;  // likewise
  std::vector<CodeFunction> functions;  // by module and start
  CodeConsistency consistency;
  std::uint64_t executions = 0;
  std::uint64_t instructions = 0;
  std::uint64_t lost_hits = 0;  // dropped, or into unknown code
};

/// A function's calls are the edges to its first instruction from outside the function or by a
/// call instruction: tail calls count, a loop back to the first instruction does not.
[[nodiscard]] NamedCode name_code(const CodeProfile& profile, Namer& namer, std::uint64_t threads,
                                  bool may_leave = false);

/// The same from probes. Here a function's calls are the hits of its first block less the edges to
/// it from within the function that are not calls. If the two were not counted over the same span,
/// the difference is meaningless and the function has no calls.
[[nodiscard]] NamedCode name_code(const ProbedProfile& profile, std::span<const PcSamples> samples,
                                  Namer& namer, std::uint64_t threads);

/// The kind of all blocks' counts together: the common one, or "mixed".
[[nodiscard]] std::string kind_of_all(const NamedCode& code, const CountsContext& context);

/// Adds the calls to the rows of functions.tsv, and rows for functions without samples.
void add_calls(std::vector<Function>& functions, const NamedCode& code,
               std::span<const core::Module> modules);

}  // namespace sp::profiler
