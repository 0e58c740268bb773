#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {

struct BlockRow {
  std::string module;
  std::uint64_t offset = 0;
  std::string function;
  std::uint64_t size = 0;
  std::uint64_t hits = 0;
  std::string kind;
};

[[nodiscard]] std::vector<BlockRow> all_blocks(const RunFiles& files);
/// Those of the file named by a word of a command line.
[[nodiscard]] std::vector<BlockRow> blocks_of(const RunFiles& files, const std::string& program);

/// Hits by the offset from which they are valid, 0 after the end of a block with hits. Independent
/// of how a run splits the same code into blocks.
[[nodiscard]] std::map<std::uint64_t, std::uint64_t> hits_by_byte(
    const std::vector<BlockRow>& blocks);

/// The cells calls and calls_kind of a function, separated by a blank; "" if it has none.
[[nodiscard]] std::string calls_of(const RunFiles& files, const std::string& function);
[[nodiscard]] std::uint64_t most_hits_in(const RunFiles& files, const std::string& function);
[[nodiscard]] std::set<std::string> functions_with_blocks(const RunFiles& files);

/// Tests of the default mode's probes; skipped on machines without them.
class Probes : public ::testing::Test {
 protected:
  TempDir directory_;
};

}  // namespace sp::end_to_end
