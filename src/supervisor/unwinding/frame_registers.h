#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "core/address.h"
#include "supervisor/unwinding/native_frames.h"

namespace sp::supervisor {

/// The registers of one frame, as far as they are known.
struct FrameRegisters {
  std::array<std::uint64_t, NativeFrames::kRegisters> values{};
  std::bitset<NativeFrames::kRegisters> known;
  core::Address pc;

  [[nodiscard]] core::Address sp() const {
    return core::Address{values[NativeFrames::kStackPointer]};
  }
  void set(unsigned dwarf_register, std::uint64_t value) {
    values[dwarf_register] = value;
    known.set(dwarf_register);
  }
};

}  // namespace sp::supervisor
