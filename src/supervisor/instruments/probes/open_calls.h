#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "core/address.h"
#include "core/clock.h"

namespace sp::supervisor {

/// The calls that a thread is in, as far as they were seen to begin. A call is known by its stack
/// pointer, which its return has again; what an exception or longjmp has skipped stays until
/// another call begins there. Pure.
class OpenCalls {
 public:
  static constexpr std::size_t kMost = 65'536;

  /// A call that has ended.
  struct Ended {
    std::uint32_t number = 0;  // that enter() was given
    core::Duration took{};     // without our stops
  };

  /// `sp` is the stack pointer at the function's first instruction, and at its return.
  void enter(std::uint32_t function, core::Address sp, core::TimePoint at, std::uint32_t number);
  /// The function returns, or jumps to another one. Nothing if it was entered before. `is_part`: it
  /// is a part of whichever function was entered with that stack pointer.
  std::optional<Ended> leave(std::uint32_t function, bool is_part, core::Address sp,
                             core::TimePoint at);
  /// The function was entered with another stack pointer than it has now: a jump from here is no
  /// tail call.
  [[nodiscard]] bool is_inside(std::uint32_t function, core::Address sp) const;
  /// The thread was stopped by us for so long.
  void add_stolen(core::Duration time) { stolen_ += time; }

 private:
  struct Call {
    std::uint32_t function = 0;
    std::uint32_t number = 0;
    core::TimePoint begin;
    core::Duration stolen{};  // by then
  };

  std::map<core::Address, Call> calls_;  // by stack pointer
  core::Duration stolen_{};
};

}  // namespace sp::supervisor
