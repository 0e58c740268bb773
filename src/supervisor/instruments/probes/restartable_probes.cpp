#include "supervisor/instruments/probes/restartable_probes.h"

#include <cstdint>
#include <vector>

#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/linux/restartable_sequence.h"

namespace sp::supervisor {

bool keeps_sequence_from_ending(const Tracee& tracee, core::Address breakpoint) {
  constexpr std::uint32_t kBetweenLooks = 61;  // a prime: not always at the same place of a loop
  if (++probed_thread(tracee).hits_in_sequences % kBetweenLooks != 0) {
    return false;
  }
  const auto sequence = restartable_sequence(tracee.id.tid);
  return sequence && sequence->contains(breakpoint);
}

void remove_probes_of_sequence(const Tracee& tracee, core::TimePoint now) {
  const auto sequence = restartable_sequence(tracee.id.tid);
  if (!sequence) {
    return;
  }
  ProbedCode& code = probed_code(*tracee.process);
  std::vector<std::uint32_t> blocks;
  for (BreakpointSite* const site : code.inserted_in(*sequence)) {
    if (site->block < code.blocks().size()) {
      blocks.push_back(site->block);
    } else if (site->gate == Gate::none) {
      (void)code.remove(*site);
    }
  }
  code.remove_probes(blocks, now);
}

}  // namespace sp::supervisor
