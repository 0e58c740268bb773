#pragma once

#include <cstdint>
#include <optional>

#include "arch/x86_64/inserted_code.h"
#include "arch/x86_64/move.h"
#include "core/function_copy.h"

namespace sp::arch::x86_64 {

/// Code that counts an indirect call, an indirect jump or a return in the thread's TransferTable.
/// `site` is the number of what is counted; `saves_flags`: code may read them later. Nothing if the
/// transfer's destination cannot be had.
[[nodiscard]] std::optional<InsertedCode> count_transfer(const SourceInstruction& transfer,
                                                         const core::TransferTable& table,
                                                         std::uint32_t site, bool saves_flags);

}  // namespace sp::arch::x86_64
