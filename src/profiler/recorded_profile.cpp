#include "profiler/recorded_profile.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/module.h"

namespace sp::profiler {

FunctionKind kind_in_run(const RecordedFunction& function, const RecordedRun& run) {
  if (function.module == "[kernel]") {
    return FunctionKind::blocked;
  }
  if (function.module == "[superprofiler]") {
    return FunctionKind::collapsed;
  }
  if (function.module.empty() && function.name == "[truncated]") {
    return FunctionKind::truncated;
  }
  core::Module module;
  module.path = function.module;
  const auto known =
      std::find_if(run.modules.begin(), run.modules.end(),
                   [&](const RecordedModule& other) { return other.path == function.module; });
  if (known == run.modules.end()) {
    return FunctionKind::unknown;
  }
  module.kind = known->kind == "file"   ? core::ModuleKind::file
                : known->kind == "vdso" ? core::ModuleKind::vdso
                : known->kind == "jit"  ? core::ModuleKind::jit
                                        : core::ModuleKind::unknown;
  return kind_of(&module);
}

NamedProfile named_profile(const RecordedRun& run, StackSource& stacks) {
  NamedProfile profile;
  for (const RecordedFunction& function : stacks.functions()) {
    const std::string source =
        function.line > 0 ? fmt::format("{}:{}", function.file, function.line) : function.file;
    profile.functions.push_back({function.name, function.module, source, kind_in_run(function, run),
                                 function.self_samples, function.total_samples});
  }
  stacks.for_each([&](std::span<const std::uint32_t> frames, std::uint64_t samples) {
    std::uint32_t node = CallTree::kRoot;
    for (const std::uint32_t function : frames) {
      node = profile.tree.child(node, function);
    }
    profile.tree.add_self(node, samples);
  });
  return profile;
}

}  // namespace sp::profiler
