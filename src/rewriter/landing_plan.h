#pragma once

#include <tl/expected.hpp>
#include <vector>

#include "core/function_copy.h"
#include "rewriter/copy_units.h"

namespace sp::rewriter {

/// How control comes to a unit's copy, and how the call that the unit ends with is made.
struct PlannedLanding {
  core::CopyLanding::Form form = core::CopyLanding::Form::breakpoint;
  std::uint8_t size = 0;  // of the jump in the original: a long one, or a short one to `via`
  core::Address via;
  /// The call is made by the copy with the original's return address, because the landing leaves no
  /// room for it in the original.
  bool emulates_call = false;
  /// The jump covers the beginning of the next unit, too, which control comes to only out of this
  /// one (CopyUnit::is_cut).
  bool covers_next = false;
  std::uint8_t pad = 0;  // core::CopyLanding's
};

/// One landing for each unit, such that no byte of another unit or of a kept instruction changes.
/// Refuses a function with an instruction that can be neither kept nor emulated.
[[nodiscard]] tl::expected<std::vector<PlannedLanding>, core::CopyRefusal> plan_landings(
    const core::FunctionToCopy& function, const CopyUnits& units);

/// The landing with its jumps to the unit's copy at `copy`, behind the pad's; nothing if one does
/// not reach. `leader`: of the unit.
[[nodiscard]] std::optional<core::CopyLanding> make_landing(const PlannedLanding& planned,
                                                            core::Address leader,
                                                            core::Address copy);

}  // namespace sp::rewriter
