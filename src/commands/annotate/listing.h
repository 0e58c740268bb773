#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "commands/annotate/finished_run.h"
#include "core/instruction.h"

/// Where a function's instructions begin and what was counted at each. Pure.
namespace sp::annotate {

using Decode =
    std::function<std::optional<core::Instruction>(std::span<const std::byte>, core::Address)>;

struct ListedInstruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  bool is_code = true;    // false: bytes that are no instruction, or that none begins with
  bool executed = false;  // within a block that was
  std::optional<std::uint64_t> hits;     // of the block that begins here
  std::vector<Block> entered_inside;     // blocks that begin within it (overlapping code)
  std::optional<std::uint64_t> goes_to;  // of direct jumps and calls
};

/// The instructions from `start` on, whose bytes are `code`, to the code's end. Counted blocks keep
/// the listing in step: bytes before one that would be read as the beginning of an instruction
/// reaching into it (data between code) are listed as bytes. `unit` is the length of what cannot be
/// read.
[[nodiscard]] std::vector<ListedInstruction> list_instructions(std::span<const std::byte> code,
                                                               std::uint64_t start,
                                                               std::span<const Block> blocks,
                                                               const Decode& decode,
                                                               std::uint8_t unit);

}  // namespace sp::annotate
