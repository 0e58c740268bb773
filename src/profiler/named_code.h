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

/// A function that counted code lies in: what a symbol covers, with all that was inlined into it.
struct CodeFunction {
  std::string name;       // demangled, or "module+0x1234"
  core::ModuleId module;  // the same name may stand for several functions
  std::uint64_t start = 0;
  std::string source;  // file:line of its block that executed most instructions; "" where unknown
  std::uint64_t calls = 0;
  bool has_calls = true;  // false: what was counted does not say how often it was called
  CountedSpan calls_span{};
};

struct NamedBlock {
  CodeBlock block;
  std::uint32_t function = 0;  // of NamedCode::functions
  std::string source;          // file:line of its first instruction; "" where unknown
  std::uint64_t samples = 0;   // on-CPU, of the whole run, within the block; by probes only
};

/// Counted code with names: what blocks.tsv, edges.tsv and the calls of functions.tsv are written
/// from.
struct NamedCode {
  bool by_probes = false;               // beside sampling, and not over the whole run everywhere
  std::vector<NamedBlock> blocks;       // most hits first, then by module and offset
  std::vector<CountedEdge> edges;       // likewise
  std::vector<CodeFunction> functions;  // by module and start
  CodeConsistency consistency;
  std::uint64_t executions = 0;
  std::uint64_t instructions = 0;
  std::uint64_t lost_hits = 0;  // dropped, or into code that is not known
};

/// A function's calls are the hits that its first instruction took from outside of the function or
/// by a call instruction: tail calls count, a loop back to the first instruction does not.
[[nodiscard]] NamedCode name_code(const CodeProfile& profile, Namer& namer, std::uint64_t threads);

/// The same from probes. There a function's calls are the hits of its first block, without those
/// that came from within the function and not by a call. Where the two were not counted over the
/// same span, their difference means nothing and the function has no calls.
[[nodiscard]] NamedCode name_code(const ProbedProfile& profile, std::span<const PcSamples> samples,
                                  Namer& namer, std::uint64_t threads);

/// How the blocks' counts are called together: as each of them is, or "mixed".
[[nodiscard]] std::string kind_of_all(const NamedCode& code, const CountsContext& context);

/// Puts the calls into the rows that functions.tsv is written from; adds rows for functions that
/// have no samples.
void add_calls(std::vector<Function>& functions, const NamedCode& code,
               std::span<const core::Module> modules);

}  // namespace sp::profiler
