#include "supervisor/instruments/probes/written_probes.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/page.h"

namespace sp::supervisor {

void leave_written_page(ProbedCode& code, core::Address address, core::TimePoint now) {
  std::vector<std::uint32_t> there;
  for (std::uint32_t number = 0; number < code.blocks().size(); ++number) {
    if (code.blocks()[number].probe.value() / core::kPageSize ==
        address.value() / core::kPageSize) {
      there.push_back(number);
    }
  }
  code.remove_probes(there, now);
  code.leave_page(address);
}

void forget_written_module(ProbedCode& code, core::AddressRange mapped) {
  code.restore(mapped);
  code.remember_removed(mapped);  // threads may stand at them
  code.end_module(mapped);
  code.forget_module(mapped);
}

bool holds_gates(ProbedCode& code, core::AddressRange mapped) {
  const auto sites = code.inserted_in(mapped);
  return std::any_of(sites.begin(), sites.end(),
                     [](const BreakpointSite* site) { return site->gate != Gate::none; });
}

void end_overwritten(ProbedCode& code, core::TimePoint now) {
  std::vector<std::uint32_t> blocks;
  for (const BreakpointSite* const site : code.overwritten_in(BreakpointTable::kEverywhere)) {
    if (site->block < code.blocks().size()) {
      blocks.push_back(site->block);
    }
  }
  if (!blocks.empty()) {
    code.remove_probes(blocks, now);
  }
}

}  // namespace sp::supervisor
