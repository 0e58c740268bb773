#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/x86_64/move.h"
#include "core/function_copy.h"

namespace sp::arch::x86_64 {

/// An instruction of the code that counts a transfer.
struct TransferStep {
  enum class Label : std::uint8_t { none, search, next, add, count, restore, lost };

  MovedInstruction code;
  core::CopyUndo undo;  // when it is the next one
  bool is_transferred = false;
  Label label = Label::none;  // it is there
  Label to = Label::none;     // its displacement leads there
};

/// Code that counts an indirect call, an indirect jump or a return in the thread's TransferTable,
/// and changes nothing but memory below the red zone.
struct TransferCode {
  std::vector<TransferStep> ahead;   // of the transfer
  std::vector<TransferStep> behind;  // where control comes from `ahead` alone
};

/// `site` is the number of what is counted; `saves_flags`: code may read them later. Nothing if the
/// transfer's destination cannot be had.
[[nodiscard]] std::optional<TransferCode> count_transfer(const SourceInstruction& transfer,
                                                         const core::TransferTable& table,
                                                         std::uint32_t site, bool saves_flags);

}  // namespace sp::arch::x86_64
