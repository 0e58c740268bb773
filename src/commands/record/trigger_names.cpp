#include "commands/record/trigger_names.h"

namespace sp::record {

TriggerNames::TriggerNames(const std::vector<core::TraceTrigger>& triggers) : triggers_(triggers) {
  for (const core::TraceTrigger& trigger : triggers_) {
    matchers_.emplace_back(symbols::CodeSelection{{trigger.function}});
  }
}

std::uint32_t TriggerNames::triggers_of(const profiler::SymbolRow& function) {
  const std::string& name =
      function.linkage_name.empty() ? function.demangled_name : function.linkage_name;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < matchers_.size(); ++i) {
    bits |= matchers_[i].matches(name) ? 1U << i : 0;
  }
  met_ |= bits;
  return bits;
}

std::vector<std::string> TriggerNames::unmet() const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < triggers_.size(); ++i) {
    if ((met_ >> i & 1U) == 0) {
      texts.push_back(triggers_[i].text);
    }
  }
  return texts;
}

}  // namespace sp::record
