#include "commands/annotate/listing.h"

#include <algorithm>

namespace sp::annotate {

std::vector<ListedInstruction> list_instructions(std::span<const std::byte> code,
                                                 std::uint64_t start, std::span<const Block> blocks,
                                                 const Decode& decode, std::uint8_t unit) {
  std::vector<ListedInstruction> listing;
  std::size_t at = 0;
  std::uint64_t executed_end = start;  // of the blocks so far
  auto next_block = std::find_if(blocks.begin(), blocks.end(),
                                 [start](const Block& block) { return block.offset >= start; });
  while (at < code.size()) {
    ListedInstruction row;
    row.address = start + at;
    if (next_block != blocks.end() && next_block->offset == row.address) {
      row.hits = next_block->hits;
      executed_end = std::max(executed_end, next_block->offset + next_block->size);
      ++next_block;
    }
    row.executed = row.address < executed_end;
    const auto instruction = decode(code.subspan(at), core::Address{row.address});
    const std::uint64_t end = row.address + (instruction ? instruction->length : unit);
    const bool reaches_into_block = next_block != blocks.end() && next_block->offset < end;
    row.is_code = instruction && (row.executed || !reaches_into_block);
    row.length = row.is_code
                     ? instruction->length
                     : static_cast<std::uint8_t>(std::min<std::size_t>(unit, code.size() - at));
    if (row.is_code && instruction->target) {
      row.goes_to = instruction->target->value();
    }
    while (next_block != blocks.end() && next_block->offset < row.address + row.length) {
      row.entered_inside.push_back(*next_block);
      executed_end = std::max(executed_end, next_block->offset + next_block->size);
      ++next_block;
    }
    at += row.length;
    listing.push_back(std::move(row));
  }
  return listing;
}

}  // namespace sp::annotate
