#include "rewriter/copy_layout.h"

namespace sp::rewriter {
namespace {

using core::Address;

void add_up(const CopyCode& code, std::vector<std::uint32_t>& offsets) {
  std::uint32_t offset = 0;
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    offsets[i] = offset;
    offset += code.instructions[i].code.size;
  }
  offsets.back() = offset;
}

/// Widens the jumps that do not reach; false if all do.
bool widen_jumps(CopyCode& code, const std::vector<std::uint32_t>& offsets) {
  bool has_changed = false;
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    CopiedInstruction& jump = code.instructions[i];
    if (jump.to_unit != CopiedInstruction::kNoUnit) {
      const Address target{offsets[code.units[jump.to_unit]]};
      has_changed = cpu::widen_if_needed(jump.code, Address{offsets[i]}, target) || has_changed;
    }
  }
  return has_changed;
}

}  // namespace

std::optional<std::vector<std::uint32_t>> lay_out(CopyCode& code, Address at) {
  std::vector<std::uint32_t> offsets(code.instructions.size() + 1);
  do {
    add_up(code, offsets);
  } while (widen_jumps(code, offsets));
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    CopiedInstruction& copied = code.instructions[i];
    if (copied.to_unit != CopiedInstruction::kNoUnit) {
      copied.code.target = at + offsets[code.units[copied.to_unit]];
    }
    if (!place(copied.code, at + offsets[i])) {
      return std::nullopt;
    }
  }
  return offsets;
}

}  // namespace sp::rewriter
