#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/module.h"
#include "profiler/code_blocks.h"
#include "profiler/named_profile.h"
#include "profiler/namer.h"

namespace sp::profiler {

/// A function that counted code lies in: what a symbol covers, with all that was inlined into it.
struct CodeFunction {
  std::string name;       // demangled, or "module+0x1234"
  core::ModuleId module;  // the same name may stand for several functions
  std::uint64_t start = 0;
  std::string source;  // file:line of its block that executed most instructions; "" where unknown
  std::uint64_t calls = 0;
};

struct NamedBlock {
  CodeBlock block;
  std::uint32_t function = 0;  // of NamedCode::functions
  std::string source;          // file:line of its first instruction; "" where unknown
};

/// Counted code with names: what blocks.tsv, edges.tsv and the calls of functions.tsv are written
/// from.
struct NamedCode {
  std::vector<NamedBlock> blocks;        // most hits first, then by module and offset
  std::vector<CodeProfile::Edge> edges;  // likewise
  std::vector<CodeFunction> functions;   // by module and start
  CodeConsistency consistency;
  std::uint64_t executions = 0;
  std::uint64_t instructions = 0;
  std::uint64_t lost_hits = 0;  // dropped, or into code that is not known
};

/// A function's calls are the hits that its first instruction took from outside of the function or
/// by a call instruction: tail calls count, a loop back to the first instruction does not.
[[nodiscard]] NamedCode name_code(const CodeProfile& profile, Namer& namer, std::uint64_t threads);

/// Puts the calls into the rows that functions.tsv is written from; adds rows for functions that
/// have no samples.
void add_calls(std::vector<Function>& functions, const NamedCode& code,
               std::span<const core::Module> modules);

}  // namespace sp::profiler
