#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/named_profile.h"

namespace sp::profiler {

/// One box of a flame graph. `start` and `samples` are in samples; the picture's width is total.
struct FlameBox {
  std::uint32_t function = kAll;
  std::uint32_t depth = 0;
  std::uint64_t start = 0;
  std::uint64_t samples = 0;
  std::uint64_t self = 0;
  bool inlined = false;
  std::uint32_t node = CallTree::kRoot;  // of the profile's tree

  static constexpr std::uint32_t kAll = IdIndex::kNone;  // the box below all others
};

struct FlameLayout {
  std::vector<FlameBox> boxes;  // [0] is kAll; callers before callees, siblings by name
  std::size_t levels = 1;
  std::uint64_t total = 0;
  std::uint64_t left_out = 0;  // too narrow to be seen
};

/// Leaves out boxes narrower than `narrowest` (a share of the width) and everything above them.
[[nodiscard]] FlameLayout lay_out_flame(const NamedProfile& profile, double narrowest);

}  // namespace sp::profiler
