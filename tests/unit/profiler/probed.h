#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/messages.h"
#include "unit/profiler/counted.h"

namespace sp::profiler::test {

inline core::TimePoint second(double seconds) {
  return core::TimePoint{std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000))};
}

using ToldBlock = core::ProbedBlock<core::ModuleOffset>;

/// A block of the program that ends in a branch of its last 2 bytes; hit from second 1 to 9.
inline ToldBlock block(std::uint64_t start, std::uint32_t size, std::uint64_t hits) {
  return {at(start), size,      size / 2, size - 2, false, hits,
          second(1), second(9), {},       {},       {},    false};
}

/// One that ends because the next instruction is a leader.
inline ToldBlock falling(std::uint64_t start, std::uint32_t size, std::uint64_t hits) {
  ToldBlock made = block(start, size, hits);
  made.falls_through = true;
  return made;
}

inline ToldBlock since(double from, ToldBlock block) {
  block.since = second(from);
  block.first_hit = std::max(block.first_hit, second(from));
  return block;
}

inline ToldBlock until(double to, ToldBlock block) {
  block.until = second(to);
  block.last_hit = std::min(block.last_hit, second(to));
  return block;
}

/// Counts of probes, built by hand.
class Probed {
 public:
  Probed& block(const ToldBlock& block) {
    taken_.code.blocks.push_back(block);
    return *this;
  }
  Probed& edge(std::uint64_t from, std::uint64_t to, EdgeFlow flow, std::uint64_t hits) {
    taken_.code.edges.push_back({at(from), at(to), flow, hits, second(1), second(9)});
    return *this;
  }
  [[nodiscard]] const core::ProbeCountsTaken& taken() const { return taken_; }

 private:
  core::ProbeCountsTaken taken_{{4711, 1}, {}};
};

}  // namespace sp::profiler::test
