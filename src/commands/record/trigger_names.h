#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/trace_trigger.h"
#include "profiler/formats/symbols_tsv.h"
#include "symbols/code_selection.h"

namespace sp::record {

/// Which functions the triggers of a run name.
class TriggerNames {
 public:
  explicit TriggerNames(const std::vector<core::TraceTrigger>& triggers);

  /// Bits: the triggers that name the function, which is traced.
  [[nodiscard]] std::uint32_t triggers_of(const profiler::SymbolRow& function);
  /// The triggers that have named none so far, as typed.
  [[nodiscard]] std::vector<std::string> unmet() const;

 private:
  std::vector<core::TraceTrigger> triggers_;
  std::vector<symbols::FunctionMatcher> matchers_;
  std::uint32_t met_ = 0;  // bits
};

}  // namespace sp::record
