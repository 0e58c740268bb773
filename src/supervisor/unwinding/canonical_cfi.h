#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "supervisor/unwinding/frame_table.h"

namespace sp::supervisor {

/// A CIE and its one FDE as libunwind reads every dialect of them right: .eh_frame format, version
/// 1, plain pointers, no personality, no language data, no vendor's instructions.
struct CanonicalCfi {
  std::vector<std::byte> bytes;
  std::size_t fde_offset = 0;  // the CIE is at 0
};

/// `shift` is added to every code address. DW_CFA 0x2d, which says on AArch64 that the return
/// address is signed from here on and which libunwind 1.6 takes for SPARC's register windows,
/// becomes a nop where `drop_signing_marks`. Nothing where the programs hold what libunwind could
/// not follow.
[[nodiscard]] std::optional<CanonicalCfi> normal_form(const FrameDescription& description,
                                                      std::uint64_t shift, bool drop_signing_marks);

}  // namespace sp::supervisor
