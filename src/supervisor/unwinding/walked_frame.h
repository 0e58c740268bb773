#pragma once

#include "core/address.h"

namespace sp::supervisor {

/// A frame in the process's own addresses.
struct WalkedFrame {
  core::Address pc;
  core::Address sp;
  bool is_return_address = false;  // pc: as in core::Frame
};

}  // namespace sp::supervisor
