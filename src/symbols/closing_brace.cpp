#include "symbols/closing_brace.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sp::symbols {
namespace {

/// Of a return, in bytes: moves the result, takes the frame down.
constexpr std::uint64_t kLongestReturn = 16;

/// The first instruction of the row that does not just go on to the next one.
std::optional<core::Instruction> exit_of(const LineRange& row, const core::ElfImage& image,
                                         core::Decoder decode) {
  for (core::Address at{row.begin}; at.value() < row.end;) {
    const auto instruction = decode(image.machine(), image.bytes_at(at.value()), at);
    if (!instruction || instruction->length == 0) {
      return std::nullopt;
    }
    if (core::ends_block(instruction->flow)) {
      return instruction;
    }
    at = instruction->next();
  }
  return std::nullopt;
}

bool is_last_line(const FunctionLines& lines, const LineRange& row) {
  return std::none_of(lines.rows.begin(), lines.rows.end(), [&](const LineRange& other) {
    return other.source.file == row.source.file && other.source.line > row.source.line;
  });
}

bool is_nop(std::uint16_t machine, std::span<const std::byte> code, std::size_t length) {
  constexpr auto kNop = std::byte{0x90};
  constexpr auto kArmNop =
      std::to_array({std::byte{0x1F}, std::byte{0x20}, std::byte{0x03}, std::byte{0xD5}});
  return machine == EM_AARCH64 ? std::ranges::equal(code.first(length), kArmNop)
                               : length == 1 && code.front() == kNop;
}

}  // namespace

void mark_nops(FunctionLines& lines, const core::ElfImage& image, core::Decoder decode) {
  for (LineRange& row : lines.rows) {
    std::uint32_t nops = 0;
    while (row.begin + nops < row.end) {
      const std::uint64_t at = row.begin + nops;
      const auto code = image.bytes_at(at);
      const auto instruction = decode(image.machine(), code, core::Address{at});
      if (!instruction || instruction->length == 0 || instruction->length > code.size() ||
          !is_nop(image.machine(), code, instruction->length)) {
        break;
      }
      nops += instruction->length;
    }
    row.nops = row.begin + nops < row.end ? nops : 0;
  }
}

void mark_closing_brace(FunctionLines& lines, const core::ElfImage& image, core::Decoder decode) {
  if (!lines.ends_in_brace) {
    return;
  }
  struct Jump {
    LineRange* row;
    std::uint64_t target;
  };
  std::vector<Jump> jumps;
  for (LineRange& row : lines.rows) {
    if (row.end - row.begin > kLongestReturn || !is_last_line(lines, row)) {
      continue;
    }
    const auto exit = exit_of(row, image, decode);
    row.is_closing = exit && exit->flow == core::Flow::ret;
    if (exit && exit->flow == core::Flow::jump && exit->target) {
      jumps.push_back({&row, exit->target->value()});
    }
  }
  for (const Jump& jump : jumps) {
    jump.row->is_closing =
        std::any_of(lines.rows.begin(), lines.rows.end(), [&](const LineRange& other) {
          return other.is_closing && other.source == jump.row->source &&
                 other.begin <= jump.target && jump.target < other.end;
        });
  }
}

}  // namespace sp::symbols
