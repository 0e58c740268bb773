#include "supervisor/instruments/probes/copy_removal.h"

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/copied_threads.h"

namespace sp::supervisor {

using core::Address;

bool CopyRemoval::run(const std::vector<CopiedFunctions::Copy>& copies) {
  std::vector<Address> heads;
  for (const auto& copy : copies) {
    for (const core::CopyLanding& landing : copy->landings) {
      add_heads(landing, heads);
    }
  }
  leave_copies();
  const auto done = code_.patches().remove(heads, [this] {
    const bool is_stopped = world_.stop_woken(kLongestWorldStop).has_value();
    leave_copies();
    return is_stopped;
  });
  if (!done) {
    core::log_note("functions still run from their copies: {}", done.error().message());
    return false;
  }
  for (const auto& copy : copies) {
    remove_landings(code_, *copy);
  }
  code_.collect_copies();
  for (const auto& copy : copies) {
    code_.end_copy(*copy);
  }
  return true;
}

void CopyRemoval::uncount_ahead(const std::vector<CopiedFunctions::Copy>& copies) {
  std::vector<Address> places = sleepers(tracees_, code_, world_);
  for (const HeldThread& held : world_.threads()) {
    if (const auto registers = ptrace::registers(held.tid)) {
      places.push_back(arch::Native::pc(*registers));
    }
  }
  for (const Address pc : places) {
    for (const auto& copy : copies) {
      const auto number = copy->block_of(pc);
      const ProbedBlock* const block =
          number ? code_.block_starting_at(copy->blocks[*number].start) : nullptr;
      if (block != nullptr && pc != block->start && counted_at(code_, block->start) >= pc) {
        code_.take_back_hit(block->number);
      }
    }
  }
}

void CopyRemoval::leave_copies() {
  for (const HeldThread& held : world_.threads()) {
    Tracee* const tracee = tracees_.find(held.tid);
    if (tracee != nullptr && tracee->thread_state != nullptr) {
      leave_function_copy(*tracee);
      stay_out_of_copy(*tracee);
    }
  }
}

}  // namespace sp::supervisor
