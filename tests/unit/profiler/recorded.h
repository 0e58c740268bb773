#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/recorded_run.h"

namespace sp::profiler::test {

/// Stacks in memory.
class Stacks final : public StackSource {
 public:
  using Stack = std::pair<std::vector<std::uint32_t>, std::uint64_t>;

  Stacks(std::vector<RecordedFunction> functions, std::vector<Stack> stacks)
      : functions_(std::move(functions)), stacks_(std::move(stacks)) {}

  [[nodiscard]] std::span<const RecordedFunction> functions() const override { return functions_; }
  void for_each(const Visit& visit) override {
    for (const auto& [frames, samples] : stacks_) {
      visit(frames, samples);
    }
  }

 private:
  std::vector<RecordedFunction> functions_;
  std::vector<Stack> stacks_;
};

inline const std::string kProgram = "/bin/demo";
inline const std::string kLibrary = "/lib/libx.so.1";

/// Names with everything that a format must escape; "main" twice, "read" without a module.
inline Stacks hard_stacks() {
  const auto odd = std::string("op;\"<'\\\n") + '\0' + "\xff()";
  return {{{"main", kProgram, "/src/a,b.c", 12, 0, 10, 1, "exact"},
           {odd, kProgram, "/src/a,b.c", 30, 4, 7, 3, "exact-until:0.500"},
           {"memcpy", kLibrary, "", 0, 6, 6, {}, "not-counted"},
           {"(1) read", "", "", 0, 0, 0, {}, ""}},
          {{{0, 1}, 4}, {{0, 1, 2}, 3}, {{0, 1, 1, 2}, 1}, {{3, 2}, 2}}};
}

inline RecordedRun demo_run() {
  return {"demo-7",
          "/bin/demo 'a b'",
          "0.1.0",
          1'700'000'000'128'000'000,
          2.5,
          false,
          10,
          10,
          2'000'000'000,
          "mixed",
          {{kProgram, "file", "c0ffee", 0x400000}, {kLibrary, "file", "", 0x7f0000}}};
}

/// main calls the function with the odd name three times in a loop, which calls itself once and
/// `helper` through a jump; a line of main's comes from a header.
inline RecordedCode demo_code() {
  using core::EdgeFlow;
  const std::string odd = hard_stacks().functions()[1].name;
  return {{kProgram},
          {"", "/src/a,b.c", "/src/b.h"},
          {{0, "main", 0x1000}, {0, odd, 0x1100}, {0, "helper", 0x1200}},
          {{0, 1, 12, 8, 3, 0x1000, 1},
           {0, 2, 5, 16, 4, 0x1008, 3},
           {0, 1, 14, 4, 1, 0x1018, 1},
           {1, 1, 30, 12, 5, 0x1100, 4},
           {2, 0, 0, 3, 2, 0x1200, 4}},
          {{0, 0, EdgeFlow::entry, 0x1000, 0x1000, 1},
           {0, 0, EdgeFlow::fallthrough, 0x1005, 0x1008, 1},
           {0, 0, EdgeFlow::call, 0x1008, 0x1100, 3},
           {0, 0, EdgeFlow::taken, 0x1014, 0x1008, 2},
           {0, 0, EdgeFlow::fallthrough, 0x1014, 0x1018, 1},
           {0, 0, EdgeFlow::call, 0x1102, 0x1100, 1},
           {0, 0, EdgeFlow::jump, 0x1107, 0x1200, 4},
           {0, 0, EdgeFlow::ret, 0x1202, 0x1018, 4}},
          1};
}

}  // namespace sp::profiler::test
