#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/messages.h"
#include "unit/profiler/sample_run.h"

namespace sp::profiler::test {

using core::EdgeFlow;

inline core::ModuleOffset at(std::uint64_t offset) { return {kProgram, offset}; }

/// Counted code, built by hand. Times are whole seconds.
class Counted {
 public:
  Counted& run(std::uint64_t start, std::vector<std::uint8_t> lengths,
               core::ModuleId module = kProgram) {
    taken_.runs.push_back({{module, start}, std::move(lengths)});
    return *this;
  }
  Counted& edge(core::ModuleOffset from, core::ModuleOffset to, EdgeFlow flow, std::uint64_t hits,
                int first = 1, int last = 1) {
    taken_.edges.push_back({from, to, flow, hits, core::TimePoint{std::chrono::seconds(first)},
                            core::TimePoint{std::chrono::seconds(last)}});
    return *this;
  }
  Counted& edge(std::uint64_t from, std::uint64_t to, EdgeFlow flow, std::uint64_t hits,
                int first = 1, int last = 1) {
    return edge(at(from), at(to), flow, hits, first, last);
  }
  Counted& enter(std::uint64_t to, std::uint64_t hits = 1) {
    return edge(to, to, EdgeFlow::entry, hits);
  }

  [[nodiscard]] const core::CodeCountsTaken& taken() const { return taken_; }

 private:
  core::CodeCountsTaken taken_{{4711, 1}, {}, {}};
};

/// main at 0x10 sets up a loop whose body at 0x18 runs `rounds` times; 0x20 follows it and returns
/// to code that is not counted.
///   0x10 (4) 0x14 (4) 0x18 (4) 0x1c jcc 0x18 (4) 0x20 (1) 0x21 ret (1)
inline Counted loop(std::uint64_t rounds) {
  Counted code;
  code.run(0x10, {4, 4, 4, 4}).run(0x18, {4, 4}).run(0x20, {1, 1});
  code.enter(0x10);
  if (rounds > 1) {
    code.edge(0x1c, 0x18, EdgeFlow::taken, rounds - 1, 2, 3);
  }
  return code.edge(0x1c, 0x20, EdgeFlow::fallthrough, 1, 4, 4);
}

}  // namespace sp::profiler::test
