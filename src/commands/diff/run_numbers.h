#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "profiler/recorded_run.h"

namespace sp::diff {

/// Kind of a sum of which the parts were counted over different times.
constexpr std::string_view kMixed = "mixed";

/// An exact number. `kind` says which time it covers: as in the files, or kMixed.
struct Count {
  std::uint64_t number = 0;
  std::string kind;
};

/// What a run's files say of a function.
struct FunctionNumbers {
  std::uint64_t self_samples = 0;
  std::uint64_t total_samples = 0;
  std::optional<Count> calls{};
  std::optional<Count> executions{};  // of its blocks
  std::optional<Count> instructions{};
};

/// The module's file name and the demangled name: what the function is called in another build, on
/// another machine.
struct FunctionKey {
  std::string module;
  std::string name;

  auto operator<=>(const FunctionKey&) const = default;
};

struct RunNumbers {
  std::string directory;
  profiler::RecordedRun run;
  std::map<FunctionKey, FunctionNumbers> functions;
  std::set<std::string> counted_modules;  // file names

  [[nodiscard]] bool is_sampled() const;
  /// The CPU time that a sample stands for, and one that has a stack. Of a blocked sample: time.
  [[nodiscard]] double ns_per_sample() const;
  [[nodiscard]] double ns_per_stack() const;
};

/// Errors: there is no run, or it is not readable. Damage is added to `notes`.
[[nodiscard]] core::Result<RunNumbers> read_numbers(const std::string& directory,
                                                    std::vector<std::string>& notes);

/// By file name: the modules that the runs have in different builds, or in builds without an id.
[[nodiscard]] std::set<std::string> rebuilt_modules(const std::vector<RunNumbers>& before,
                                                    const std::vector<RunNumbers>& after);

/// A function without a symbol is called by its offset, which says nothing in another build: such
/// functions of `modules` become one for each.
void join_unnamed(RunNumbers& run, const std::set<std::string>& modules);
/// The name of that function for `name` in `module`; `name` itself if it has a symbol.
[[nodiscard]] std::string name_across_builds(const std::string& name, const std::string& module);

}  // namespace sp::diff
