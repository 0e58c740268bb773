#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::profiler {

/// The functions of a recording, and which of them are at each of its places. A place that was not
/// named (the run was killed) is a function of its own, "module+0x1234".
class PlaceNames {
 public:
  explicit PlaceNames(const RecordingReader& recording);

  [[nodiscard]] const std::vector<RecordedFunction>& functions() const { return functions_; }
  [[nodiscard]] std::vector<RecordedFunction>& functions() { return functions_; }
  [[nodiscard]] FunctionKind kind_of(std::uint32_t function) const { return kinds_[function]; }

  /// Outermost first: inlined functions follow those that they are inlined into.
  [[nodiscard]] std::span<const std::uint32_t> at(std::uint32_t place) const {
    const std::size_t begin = place == 0 ? 0 : ends_[place - 1];
    return std::span(at_).subspan(begin, ends_[place] - begin);
  }
  /// The functions of a node's stack, outermost first. Returns the root that the stack has.
  std::uint32_t stack_of(std::uint32_t node, std::vector<std::uint32_t>& functions) const;

 private:
  void take_functions();
  [[nodiscard]] std::uint32_t unnamed(const RecordingPlace& place);

  const RecordingReader& recording_;
  std::vector<RecordedFunction> functions_;
  std::vector<FunctionKind> kinds_;
  std::vector<std::uint32_t> at_;
  std::vector<std::size_t> ends_;  // by place
};

}  // namespace sp::profiler
