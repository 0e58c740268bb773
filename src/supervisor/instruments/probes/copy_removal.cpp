#include "supervisor/instruments/probes/copy_removal.h"

#include <map>

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
  const auto done = code_.patches().remove(
      heads, [this] { return world_.stop_woken(kLongestWorldStop).has_value(); });
  if (!done) {
    core::log_note("functions still run from their copies: {}", done.error().message());
    return false;
  }
  leave_second_jumps(copies);
  end(copies);  // if we had been killed before, the original could not be executed everywhere
  return true;
}

void CopyRemoval::end(const std::vector<CopiedFunctions::Copy>& copies) {
  leave_copies();
  for (const Address pc : places()) {
    for (const auto& copy : copies) {
      for (const auto& correction : {unfinished(*copy, pc), behind_pad(*copy, pc)}) {
        if (correction) {
          code_.copies().correct(*correction);
        }
      }
    }
  }
  for (const auto& copy : copies) {
    remove_landings(code_, *copy);
  }
  code_.collect_copies(true);
  for (const auto& copy : copies) {
    code_.end_copy(*copy);
  }
}

std::vector<Address> CopyRemoval::places() const {
  std::vector<Address> places = sleepers(tracees_, code_, world_);
  for (const HeldThread& held : world_.threads()) {
    if (const auto registers = ptrace::registers(held.tid)) {
      const Address pc = arch::Native::pc(*registers);
      places.push_back(unserved_breakpoint(code_, held, pc, false).value_or(pc));
    }
  }
  return places;
}

void CopyRemoval::uncount_ahead(const std::vector<CopiedFunctions::Copy>& copies) {
  for (const Address pc : places()) {
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

/// A thread may have been stopped between a jump and the second one, which is not there any more.
void CopyRemoval::leave_second_jumps(const std::vector<CopiedFunctions::Copy>& copies) {
  std::map<Address, Address> leader_of;
  for (const auto& copy : copies) {
    for (const core::CopyLanding& landing : copy->landings) {
      if (landing.via_size > 0) {
        leader_of[landing.via] = landing.at;
      }
    }
  }
  for (const HeldThread& held : world_.threads()) {
    auto registers = ptrace::registers(held.tid);
    const auto leader = registers ? leader_of.find(arch::Native::pc(*registers)) : leader_of.end();
    if (leader != leader_of.end()) {
      arch::Native::set_pc(*registers, leader->second);
      (void)ptrace::set_registers(held.tid, *registers);
    }
  }
}

void CopyRemoval::leave_copies() {
  for (const HeldThread& held : world_.threads()) {
    Tracee* const tracee = tracees_.find(held.tid);
    if (tracee != nullptr && tracee->thread_state != nullptr) {
      leave_function_copy(*tracee);
    }
  }
}

}  // namespace sp::supervisor
