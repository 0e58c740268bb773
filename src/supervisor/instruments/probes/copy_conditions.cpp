#include "supervisor/instruments/probes/copy_conditions.h"

#include <algorithm>

#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/forbidden_ticks.h"
#include "supervisor/instruments/probes/places_in_code.h"

namespace sp::supervisor {

using core::CopyRefusal;

std::vector<std::byte> fetch_gap_behind(ProbedCode& code, const ProbedFunction& function,
                                        const core::CodeReferences& references,
                                        std::uint64_t bias) {
  constexpr std::uint64_t kMost = 64;
  core::AddressRange gap = code.functions().gap_behind(function);
  gap.end = std::min(gap.end, gap.begin + kMost);
  const auto jump =
      std::lower_bound(references.jumps.begin(), references.jumps.end(), gap.begin.value() - bias);
  if (!function.has_known_end ||
      (jump != references.jumps.end() && *jump < gap.end.value() - bias)) {
    return {};
  }
  std::vector<std::byte> bytes(gap.size());
  bytes.resize(code.fetch(gap.begin, bytes));
  return bytes;
}

std::optional<CopyRefusal> refuse_copy(ProbedCode& code, const ProbedFunction& function,
                                       const core::CodeReferences& references) {
  // Gates and the loader's function tell by their stops, which copies do not have.
  // Nobody tells when a program changes its code through /proc/self/mem, and this one changes it.
  if (function.is_rewritten || has_gate_in(code, function.bounds) ||
      code.is_in_loader_function(function.bounds.begin)) {
    return CopyRefusal::unmovable;
  }
  if (references.uses_counter_segment) {
    return CopyRefusal::uses_counter_segment;
  }
  return references.has_restartable_sequences ? std::optional(CopyRefusal::restartable_sequence)
                                              : std::nullopt;
}

bool returns_flags(const ProbedFunction& function, const core::CodeReferences& references,
                   std::uint64_t bias) {
  const auto first =
      std::lower_bound(references.flag_returners.begin(), references.flag_returners.end(),
                       function.bounds.begin.value() - bias);
  return first != references.flag_returners.end() && *first < function.bounds.end.value() - bias;
}

}  // namespace sp::supervisor
