#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// What two tools say about how often the instructions of one module were executed.
namespace sp::oracle {

/// ELF virtual address -> executions.
using InstructionCounts = std::map<std::uint64_t, std::uint64_t>;

/// A row of blocks.tsv.
struct Block {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t instructions = 0;
  std::uint64_t hits = 0;
  std::string function;
};

/// The blocks of one module, found whatever symbolic links its path goes through.
[[nodiscard]] std::vector<Block> blocks_of(const std::string& run_directory,
                                           const std::string& module);

/// The Ir of one module in a file of `callgrind --dump-instr=yes --dump-line=no --skip-plt=no
/// --compress-strings=no --compress-pos=no`. callgrind gives only what lies in .text to a module,
/// and names the rest (.plt, .init) by its address in memory: of that, what `blocks` say was
/// executed is taken, at the distance from the module at which most of them are found.
[[nodiscard]] InstructionCounts callgrind_counts(const std::string& path, const std::string& module,
                                                 const std::vector<Block>& blocks);

/// Where the two differ, one line each, and nothing where they agree: each instruction of a block
/// was executed as often as the block, and nothing was executed outside of them. The executions of
/// a rep-prefixed instruction are not compared, because callgrind counts its repetitions.
[[nodiscard]] std::vector<std::string> differences(const std::string& module,
                                                   const std::vector<Block>& blocks,
                                                   const InstructionCounts& counts);

}  // namespace sp::oracle
