#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "supervisor/unwinding/frame_table.h"

namespace sp::supervisor {

/// A CIE and its one FDE in the one form that libunwind always reads correctly: .eh_frame format,
/// version 1, absolute pointers, no personality, no language data, no vendor's instructions.
struct CanonicalCfi {
  std::vector<std::byte> bytes;
  std::size_t fde_offset = 0;  // the CIE is at 0
};

/// Rewrites an FDE in canonical form. `shift` is added to every code address. On AArch64, DW_CFA
/// 0x2d says that the return address is signed from here on; libunwind 1.6 takes it for SPARC's
/// register windows, so it becomes a nop if `drop_signing_marks`. Nothing if the programs hold
/// instructions that libunwind cannot evaluate.
[[nodiscard]] std::optional<CanonicalCfi> make_canonical_cfi(const Fde& fde, std::uint64_t shift,
                                                             bool drop_signing_marks);

}  // namespace sp::supervisor
