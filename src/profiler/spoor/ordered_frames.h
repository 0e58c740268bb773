#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sp::profiler {

/// Gives the entries and exits of a thread the stack pointers that calls closed by order have,
/// where none were recorded: each frame is 8 bytes below its caller's.
class OrderedFrames {
 public:
  [[nodiscard]] std::uint64_t enter(std::uint32_t function);
  /// Frames that `function` has entered and not left are gone. If it was never entered it is the
  /// caller of all that was.
  [[nodiscard]] std::uint64_t leave(std::uint32_t function);

 private:
  [[nodiscard]] std::uint64_t position() const;

  std::vector<std::uint32_t> open_;                         // outermost first
  std::unordered_map<std::uint32_t, std::uint32_t> times_;  // how often each is open
  std::uint64_t callers_ = 0;                               // that were never entered
};

}  // namespace sp::profiler
