#include "oracle/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/elf_image.h"

namespace sp::oracle {
namespace {

std::string real_path(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

std::uint64_t number(const std::string& text) { return std::stoull(text, nullptr, 0); }

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream rest(line);
  for (std::string cell; std::getline(rest, cell, '\t');) {
    cells.push_back(cell);
  }
  return cells;
}

/// Path of an object -> its counts.
std::map<std::string, InstructionCounts> read_callgrind(const std::string& path) {
  std::map<std::string, InstructionCounts> objects;
  InstructionCounts* object = nullptr;
  std::ifstream in(path);
  bool is_sum_of_a_call = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("ob=")) {
      object = &objects[line.substr(3)];
    } else if (line.starts_with("calls=")) {
      is_sum_of_a_call = true;  // the next line is what the callee cost
    } else if (line.starts_with("0x") && !std::exchange(is_sum_of_a_call, false) &&
               object != nullptr) {
      const auto blank = line.find(' ');
      (*object)[number(line.substr(0, blank))] += number(line.substr(blank + 1));
    }
  }
  return objects;
}

/// How far from its ELF virtual addresses a module lies in memory.
std::uint64_t distance_of(const InstructionCounts& unplaced, const InstructionCounts& counts,
                          const std::vector<Block>& blocks) {
  constexpr std::uint64_t kPageSize = 4096;
  std::map<std::uint64_t, int> votes;
  for (const Block& block : blocks) {
    if (counts.contains(block.offset)) {
      continue;
    }
    for (const auto& [address, hits] : unplaced) {
      if (address >= block.offset && (address - block.offset) % kPageSize == 0) {
        ++votes[address - block.offset];
      }
    }
  }
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? 0 : most->first;
}

bool is_repeated(const core::ElfImage& image, std::uint64_t address) {
  const auto bytes = image.bytes_at(address);
  bool repeats = false;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 4); ++i) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    const bool prefix = byte == 0xF2 || byte == 0xF3;
    const bool string = (byte >= 0xA4 && byte <= 0xA7) || (byte >= 0xAA && byte <= 0xAF);
    if (repeats && string) {
      return true;
    }
    if (!prefix && byte != 0x66 && (byte & 0xF0U) != 0x40) {
      return false;
    }
    repeats = repeats || prefix;
  }
  return false;
}

}  // namespace

std::vector<Block> blocks_of(const std::string& run_directory, const std::string& module) {
  std::ifstream in(run_directory + "/blocks.tsv");
  std::vector<Block> blocks;
  const std::string wanted = real_path(module);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto cells = cells_of(line);
    if (cells.size() >= 8 && real_path(cells[0]) == wanted) {
      blocks.push_back(
          {number(cells[1]), number(cells[5]), number(cells[6]), number(cells[7]), cells[3]});
    }
  }
  return blocks;
}

InstructionCounts callgrind_counts(const std::string& path, const std::string& module,
                                   const std::vector<Block>& blocks) {
  InstructionCounts counts;
  InstructionCounts unplaced;
  for (const auto& [object, of_object] : read_callgrind(path)) {
    if (object == "???") {
      unplaced = of_object;
    } else if (real_path(object) == real_path(module)) {
      counts = of_object;
    }
  }
  const std::uint64_t distance = distance_of(unplaced, counts, blocks);
  const InstructionCounts placed = counts;
  for (const Block& block : blocks) {
    const auto end = unplaced.lower_bound(distance + block.offset + block.size);
    for (auto at = unplaced.lower_bound(distance + block.offset); at != end; ++at) {
      if (!placed.contains(block.offset)) {
        counts[at->first - distance] = at->second;
      }
    }
  }
  return counts;
}

std::vector<std::string> differences(const std::string& module, const std::vector<Block>& blocks,
                                     const InstructionCounts& counts) {
  const auto file = core::MappedFile::open(module);
  const auto image = file ? core::ElfImage::parse(*file) : tl::unexpected(file.error());
  if (!image) {
    return {"cannot read " + module};
  }
  std::vector<std::string> wrong;
  InstructionCounts outside = counts;
  for (const Block& block : blocks) {
    const auto begin = counts.lower_bound(block.offset);
    const auto end = counts.lower_bound(block.offset + block.size);
    const auto instructions = static_cast<std::uint64_t>(std::distance(begin, end));
    if (instructions != block.instructions || (begin != end && begin->first != block.offset)) {
      wrong.push_back(fmt::format("{:#x} in {}: a block of {} instructions, executed were {}",
                                  block.offset, block.function, block.instructions, instructions));
    }
    for (auto at = begin; at != end; ++at) {
      outside.erase(at->first);
      if (at->second != block.hits && !is_repeated(**image, at->first)) {
        wrong.push_back(fmt::format("{:#x} in {}: a block with {} hits, executed {} times",
                                    at->first, block.function, block.hits, at->second));
      }
    }
  }
  for (const auto& [address, hits] : outside) {
    wrong.push_back(fmt::format("{:#x}: in no block, executed {} times", address, hits));
  }
  return wrong;
}

}  // namespace sp::oracle
