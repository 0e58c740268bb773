#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/clock.h"
#include "core/trace_request.h"

namespace sp::core {

/// --trigger: calls of a function that switch a trace on or off, or have it written.
struct TraceTrigger {
  enum class Compares : std::uint8_t { less, equal, greater };
  /// Of a call's duration without stolen time (nanoseconds), or of an integer argument.
  struct Condition {
    std::uint8_t argument = 0;  // 1..6; 0: the duration
    Compares compares = Compares::greater;
    std::int64_t with = 0;

    [[nodiscard]] bool holds_for(std::int64_t value) const {
      switch (compares) {
        case Compares::less:
          return value < with;
        case Compares::equal:
          return value == with;
        case Compares::greater:
          break;
      }
      return value > with;
    }
  };
  static constexpr std::uint8_t kMostArguments = 6;
  static constexpr std::size_t kMost = 32;  // triggers of a run

  std::string text;      // as typed
  std::string function;  // a name, a glob or a /regex/
  TraceAction action = TraceAction::flush;
  std::optional<Condition> condition{};  // of the duration: looked at when the call ends
  std::uint64_t after = 0;               // the first calls that do nothing
  /// Calls of the function that may be open in the thread, the one at hand included; 0: any number.
  std::uint32_t depth = 0;

  [[nodiscard]] bool is_of_duration() const { return condition && condition->argument == 0; }
};

}  // namespace sp::core
