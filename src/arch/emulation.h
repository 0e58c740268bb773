#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/address.h"

namespace sp::arch {

/// The traced thread's memory, as an emulated instruction accesses it.
class MemoryAccess {
 public:
  MemoryAccess() = default;
  MemoryAccess(const MemoryAccess&) = delete;
  MemoryAccess& operator=(const MemoryAccess&) = delete;
  virtual ~MemoryAccess() = default;

  /// Fills all of `to`, or answers false: the instruction would fault.
  [[nodiscard]] virtual bool read(core::Address from, std::span<std::byte> to) = 0;
  [[nodiscard]] virtual bool write(core::Address to, std::span<const std::byte> from) = 0;
};

enum class Emulated : std::uint8_t {
  done,            // registers and memory are as the CPU would have left them
  not_emulated,    // not supported, or it would fault; nothing has changed
  memory_refused,  // its memory cannot be accessed; nothing has changed
};

}  // namespace sp::arch
