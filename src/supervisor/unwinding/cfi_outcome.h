#pragma once

#include <cstdint>

namespace sp::supervisor {

/// What became of stepping from a frame to its caller by call frame information.
enum class CfiOutcome : std::uint8_t {
  stepped,
  root,            // the frame says that it has no caller
  no_cfi,          // the module has none for this address
  unusable_cfi,    // it cannot be evaluated, or needs a register that is not known
  memory_missing,  // see FrameCursor::missing()
};

}  // namespace sp::supervisor
