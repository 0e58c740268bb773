#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/support.h"

namespace sp::end_to_end {

struct FoldedStack {
  std::vector<std::string> frames;  // outermost first
  std::uint64_t count = 0;

  [[nodiscard]] bool has(const std::string& frame) const;
};

struct FunctionRow {
  std::string module;
  std::string function;
  std::string source;
  std::uint64_t self = 0;
  std::uint64_t total = 0;
  std::uint64_t calls = 0;  // exact ones
};

/// The files of one run.
class RunFiles {
 public:
  explicit RunFiles(std::string directory) : directory_(std::move(directory)) {}

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] bool complete() const;  // all files exist and are complete
  [[nodiscard]] nlohmann::json run() const;
  [[nodiscard]] std::vector<FoldedStack> stacks() const;
  [[nodiscard]] std::vector<FunctionRow> functions() const;

  [[nodiscard]] std::uint64_t samples() const;
  [[nodiscard]] std::uint64_t on_cpu() const;
  [[nodiscard]] std::uint64_t stops() const;
  /// Samples in that function itself; samples whose stack contains it.
  [[nodiscard]] std::uint64_t self_of(const std::string& function) const;
  [[nodiscard]] std::uint64_t total_of(const std::string& function) const;
  /// Exact calls of that function, in modules with that file name; "": in all.
  [[nodiscard]] std::uint64_t calls_of(const std::string& function,
                                       const std::string& module = "") const;
  /// Percent of the stacks whose outer frames are missing.
  [[nodiscard]] double truncated_percent() const;

 private:
  std::string directory_;
};

/// Runs superprofiler with `options`, writing to DIR/run, and with `--` and the program's words if
/// there are any.
[[nodiscard]] Words superprofiler(const TempDir& directory, const Words& options,
                                  const Words& program = {});

/// A finished run.
struct Profiled {
  Outcome outcome;
  RunFiles files;
};
[[nodiscard]] Profiled profile(const TempDir& directory, const Words& options, const Words& program,
                               const StartOptions& start = {});

}  // namespace sp::end_to_end
