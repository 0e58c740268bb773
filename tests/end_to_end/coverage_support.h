#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {

struct CoveredBlock {
  std::string module;
  std::string function;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t function_size = 0;
  bool covered = false;
  std::string kind;
};

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, '\t');) {
    cells.push_back(cell);
  }
  return cells;
}

inline std::vector<CoveredBlock> covered_blocks(const std::string& path) {
  std::vector<CoveredBlock> blocks;
  std::istringstream in(read_file(path));
  std::string line;
  std::getline(in, line);
  EXPECT_TRUE(line.starts_with("module\tbuild_id\toffset\tsize\tfunction\t")) << line;
  while (std::getline(in, line)) {
    const auto cells = cells_of(line);
    if (cells.size() < 9) {
      ADD_FAILURE() << line;
      continue;
    }
    blocks.push_back({cells[0], cells[4], std::stoull(cells[2], nullptr, 16), std::stoull(cells[3]),
                      std::stoull(cells[6]), cells[7] == "1", cells[8]});
  }
  return blocks;
}

inline std::uint64_t reached(const std::vector<CoveredBlock>& blocks) {
  return static_cast<std::uint64_t>(std::count_if(
      blocks.begin(), blocks.end(), [](const CoveredBlock& block) { return block.covered; }));
}

/// Whether a function was entered.
inline bool is_entered(const std::vector<CoveredBlock>& blocks, const std::string& function) {
  return std::any_of(blocks.begin(), blocks.end(), [&](const CoveredBlock& block) {
    return block.covered && block.function.find(function) != std::string::npos;
  });
}

}  // namespace sp::end_to_end
