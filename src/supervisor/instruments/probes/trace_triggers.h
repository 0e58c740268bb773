#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/clock.h"
#include "core/trace_trigger.h"

namespace sp::supervisor {

/// Decides which calls set off a --trigger. Functions are told by bits: bit N of `triggers` says
/// that trigger N names the function. Pure.
class TraceTriggers {
 public:
  using Arguments = std::array<std::uint64_t, core::TraceTrigger::kMostArguments>;

  explicit TraceTriggers(std::vector<core::TraceTrigger> triggers);

  [[nodiscard]] bool empty() const { return triggers_.empty(); }
  /// The triggers that switch a trace on: their functions are looked at while it is off.
  [[nodiscard]] std::uint32_t that_switch_on() const { return switch_on_; }
  /// One of them has to know when a call ends.
  [[nodiscard]] bool watches_end(std::uint32_t triggers) const {
    return (triggers & of_duration_) != 0;
  }
  /// One of them looks at arguments.
  [[nodiscard]] bool look_at_arguments() const { return look_at_arguments_; }

  /// A call begins; `depth` calls of the function are open, this one included.
  [[nodiscard]] std::vector<core::TraceAction> on_entry(std::uint32_t triggers, std::uint32_t depth,
                                                        const Arguments& arguments);
  /// It has ended.
  [[nodiscard]] std::vector<core::TraceAction> on_end(std::uint32_t triggers, std::uint32_t depth,
                                                      core::Duration took);

 private:
  struct Trigger {
    core::TraceTrigger what;
    std::uint64_t calls = 0;  // that fulfil its conditions
  };
  template <typename Holds>
  [[nodiscard]] std::vector<core::TraceAction> fire(std::uint32_t triggers, std::uint32_t depth,
                                                    bool at_end, const Holds& holds);

  std::vector<Trigger> triggers_;
  std::uint32_t switch_on_ = 0;    // bits
  std::uint32_t of_duration_ = 0;  // likewise
  bool look_at_arguments_ = false;
};

}  // namespace sp::supervisor
