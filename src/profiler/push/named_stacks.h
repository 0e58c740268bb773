#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/named_profile.h"
#include "profiler/recorded_run.h"

namespace sp::profiler {

/// A profile with names as the writers of other programs' formats take it.
class NamedStacks final : public StackSource {
 public:
  /// `named` must outlive it.
  explicit NamedStacks(const NamedProfile& named);

  [[nodiscard]] std::span<const RecordedFunction> functions() const override { return functions_; }
  void for_each(const Visit& visit) override;

 private:
  const NamedProfile& named_;
  std::vector<RecordedFunction> functions_;
};

}  // namespace sp::profiler
