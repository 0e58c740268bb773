#include "end_to_end/probe_support.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace sp::end_to_end {
namespace {

/// The rows of a table without its header.
std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  std::istringstream table(read_file(path));
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream columns(line);
    rows.emplace_back();
    for (std::string cell; std::getline(columns, cell, '\t');) {
      rows.back().push_back(cell);
    }
  }
  return rows;
}

}  // namespace

std::vector<BlockRow> all_blocks(const RunFiles& files) {
  std::vector<BlockRow> blocks;
  for (const auto& cells : rows_of(files.directory() + "/blocks.tsv")) {
    if (cells.size() >= 9) {
      blocks.push_back({cells[0], std::stoull(cells[1], nullptr, 16), cells[3],
                        std::stoull(cells[5]), std::stoull(cells[7]), cells[8]});
    }
  }
  return blocks;
}

std::vector<BlockRow> blocks_of(const RunFiles& files, const std::string& program) {
  std::vector<BlockRow> blocks = all_blocks(files);
  const std::string name = "/" + std::filesystem::path(program).filename().string();
  std::erase_if(blocks, [&](const BlockRow& block) { return !block.module.ends_with(name); });
  return blocks;
}

std::map<std::uint64_t, std::uint64_t> hits_by_byte(const std::vector<BlockRow>& blocks) {
  std::map<std::uint64_t, std::uint64_t> by_byte;
  for (const BlockRow& block : blocks) {
    for (std::uint64_t at = block.offset; at < block.offset + block.size; ++at) {
      by_byte[at] = std::max(by_byte[at], block.hits);
    }
  }
  std::map<std::uint64_t, std::uint64_t> changes;
  std::uint64_t last = 0;
  std::uint64_t end = 0;
  for (const auto& [at, hits] : by_byte) {
    if (at != end && last != 0) {
      changes[end] = 0;
      last = 0;
    }
    if (hits != last) {
      changes[at] = hits;
    }
    last = hits;
    end = at + 1;
  }
  return changes;
}

std::string calls_of(const RunFiles& files, const std::string& function) {
  for (const auto& cells : rows_of(files.directory() + "/functions.tsv")) {
    if (cells.size() >= 7 && cells[1] == function) {
      return cells[5] + " " + cells[6];
    }
  }
  return "";
}

std::uint64_t most_hits_in(const RunFiles& files, const std::string& function) {
  std::uint64_t most = 0;
  for (const BlockRow& block : all_blocks(files)) {
    most = block.function == function ? std::max(most, block.hits) : most;
  }
  return most;
}

std::set<std::string> functions_with_blocks(const RunFiles& files) {
  std::set<std::string> functions;
  for (const BlockRow& block : all_blocks(files)) {
    functions.insert(block.function);
  }
  return functions;
}

}  // namespace sp::end_to_end
