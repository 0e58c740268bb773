#pragma once

#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "profiler/emitter/emit_options.h"

namespace sp::profiler {

/// --emit-budget: from 90 % of it on, what is left is spread over what is left of its time.
class EmitBudget {
 public:
  EmitBudget(std::optional<EmitLimit> limit, core::TimePoint now) : limit_(limit), began_(now) {}

  /// A profile with all that goes with it took so many bytes.
  void spend(std::uint64_t bytes, core::TimePoint now);
  /// The time until the next one, at least `wanted`.
  [[nodiscard]] core::Duration period(core::Duration wanted, core::TimePoint now) const;

 private:
  const std::optional<EmitLimit> limit_;
  core::TimePoint began_;
  std::uint64_t spent_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace sp::profiler
