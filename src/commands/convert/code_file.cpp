#include "commands/convert/code_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "core/mapped_file.h"
#include "profiler/text.h"

namespace sp::convert {
namespace {

using core::fail;
using core::Result;
using profiler::base_name;

/// By number: whether blocks of the module were counted.
std::vector<bool> counted_modules(const profiler::RecordedCode& counts) {
  std::vector<bool> counted(counts.modules.size());
  for (const profiler::RecordedCode::Block& block : counts.blocks) {
    counted[counts.functions[block.function].module] = true;
  }
  return counted;
}

/// The main program is the first module; its own path may be that of an interpreter's script.
std::string wanted_module(const profiler::RecordedRun& run, const std::string& named) {
  return !named.empty() ? named : run.modules.empty() ? "" : run.modules.front().path;
}

}  // namespace

Result<CodeFile> open_code_file(const profiler::RecordedRun& run,
                                const profiler::RecordedCode& counts, const std::string& named) {
  const std::string wanted = wanted_module(run, named);
  const std::vector<bool> counted = counted_modules(counts);
  std::vector<std::uint32_t> found;
  std::set<std::string_view> others;
  for (std::uint32_t i = 0; i < counts.modules.size(); ++i) {
    if (counted[i]) {
      others.insert(counts.modules[i]);
      if (counts.modules[i] == wanted || base_name(counts.modules[i]) == wanted) {
        found.push_back(i);
      }
    }
  }
  if (found.size() != 1) {
    return fail(fmt::format("{} of the run is called {}; --module names one of {}",
                            found.empty() ? "no counted module" : "more than one module", wanted,
                            fmt::join(others, ", ")));
  }
  const std::string& path = counts.modules[found.front()];
  auto file = core::MappedFile::open(path);
  if (!file) {
    return fail(
        fmt::format("the format needs the file that was recorded: {}", file.error().message()));
  }
  CodeFile code{found.front(), path, symbols::ElfSections(std::move(*file))};
  const auto recorded =
      std::find_if(run.modules.begin(), run.modules.end(),
                   [&](const profiler::RecordedModule& module) { return module.path == path; });
  if (recorded != run.modules.end() && recorded->build_id != code.sections.build_id()) {
    return fail(
        fmt::format("{} is not the file that was recorded: its build-id is {}, then {}; "
                    "record the run again",
                    path, code.sections.build_id(), recorded->build_id));
  }
  return code;
}

}  // namespace sp::convert
