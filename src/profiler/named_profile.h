#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/call_tree.h"
#include "profiler/counted_span.h"
#include "profiler/namer.h"
#include "profiler/profile.h"
#include "profiler/source_tally.h"

namespace sp::profiler {

enum class FunctionKind : std::uint8_t {
  executable,  // code of a program
  library,     // of a shared library or the vdso
  jit,         // generated while the target ran
  unknown,     // of no module
  blocked,     // "[blocked: read]": asleep in the kernel
  collapsed,   // stands for frames that did not fit into the full tree
  truncated,   // stands for the missing outer end of a stack
  thread,      // a thread's name, above its stacks
};

/// False for markers that are not a place where time was spent.
[[nodiscard]] constexpr bool has_row(FunctionKind kind) {
  return kind != FunctionKind::truncated && kind != FunctionKind::thread;
}

/// Of a module's code; `module` is null if unknown.
[[nodiscard]] FunctionKind kind_of(const core::Module* module);

struct Function {
  std::string name;    // demangled, any bytes
  std::string module;  // full path as the target sees it; "[kernel]" for blocked
  std::string source;  // file:line with most of its samples; "" if unknown
  FunctionKind kind = FunctionKind::unknown;
  std::uint64_t self = 0;                // samples, with a stack or without
  std::uint64_t total = 0;               // samples whose stack contains it, once each
  std::optional<std::uint64_t> calls{};  // nothing if not counted
  CountedSpan calls_span{};
};

/// One of the functions at a step of a profile: inlined code has several.
struct NamedStep {
  std::uint32_t function = 0;
  std::uint32_t source = SourceTally::kUnknown;
  bool inlined = false;
  std::uint64_t start = 0;  // of the function's code, or of that of the one it is inlined into
};

/// A profile with names: the source of every file format.
struct NamedProfile {
  std::vector<Function> functions;  // distinct by module and name
  /// By function. Functions of one name are one node here, whatever their modules.
  CallTree tree;
  SampleCounts counts;
  /// The functions at each step of the profile, outermost first: those of step n are
  /// [first_of_step[n], first_of_step[n + 1]). Empty if the profile was read from files.
  std::vector<NamedStep> steps{};
  std::vector<std::size_t> first_of_step{};
  std::vector<std::string> sources{};  // "file:line", by NamedStep::source
};

/// By function: its position in the order of folded names.
[[nodiscard]] std::vector<std::uint32_t> name_ranks(const std::vector<Function>& functions);

[[nodiscard]] NamedProfile name_profile(const Profile& profile, Namer& namer);

/// By function: the samples whose stacks contain it, once each however deep it recurses.
[[nodiscard]] std::vector<std::uint64_t> inclusive_samples(const CallTree& tree,
                                                           std::size_t functions);

}  // namespace sp::profiler
