#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "commands/annotate/finished_run.h"
#include "core/instruction.h"

/// The instructions of a function with their counts. Pure.
namespace sp::annotate {

using Decode =
    std::function<std::optional<core::Instruction>(std::span<const std::byte>, core::Address)>;

struct ListedInstruction {
  std::uint64_t address = 0;
  std::uint8_t length = 0;
  bool is_code = true;                   // false: bytes that are not an instruction
  bool executed = false;                 // in a block that was executed
  std::optional<std::uint64_t> hits;     // of the block that starts here
  std::vector<Block> entered_inside;     // blocks that start within it (overlapping code)
  std::optional<std::uint64_t> goes_to;  // of direct jumps and calls
};

/// The instructions of `code`, which starts at `start`. Counted blocks synchronise the listing: an
/// instruction that would reach into one (data between code) is listed as bytes. `unit` is the
/// length of what cannot be decoded.
[[nodiscard]] std::vector<ListedInstruction> list_instructions(std::span<const std::byte> code,
                                                               std::uint64_t start,
                                                               std::span<const Block> blocks,
                                                               const Decode& decode,
                                                               std::uint8_t unit);

}  // namespace sp::annotate
