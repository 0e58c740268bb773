#pragma once

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace sp::core {

/// A process of a run: pid plus a serial, because the kernel reuses pids and because exec starts
/// another program in the same pid.
struct ProcessId {
  pid_t pid = 0;
  std::uint32_t serial = 0;

  constexpr auto operator<=>(const ProcessId&) const = default;
};

/// A thread of a run: tid plus a serial, because the kernel reuses tids.
struct ThreadId {
  pid_t tid = 0;
  std::uint32_t serial = 0;

  constexpr auto operator<=>(const ThreadId&) const = default;
};

}  // namespace sp::core

template <>
struct std::hash<sp::core::ProcessId> {
  std::size_t operator()(const sp::core::ProcessId& id) const noexcept {
    return std::hash<std::uint64_t>{}(static_cast<std::uint64_t>(id.pid) << 32U | id.serial);
  }
};

template <>
struct std::hash<sp::core::ThreadId> {
  std::size_t operator()(const sp::core::ThreadId& id) const noexcept {
    return std::hash<std::uint64_t>{}(static_cast<std::uint64_t>(id.tid) << 32U | id.serial);
  }
};
