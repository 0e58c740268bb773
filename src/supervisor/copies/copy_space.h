#pragma once

#include <map>
#include <optional>

#include "core/address.h"
#include "core/clock.h"
#include "supervisor/copies/copy_region.h"
#include "supervisor/copies/counter_slots.h"

namespace sp::supervisor {

/// The memory of ours that the copies in one address space need: threads hold on to it as long as
/// they count in it.
struct CopySpace {
  std::optional<CounterSlots> slots;
  std::map<core::Address, CopyRegion> regions;  // by the module's begin
  /// Room that nobody uses any more.
  void give_back(core::AddressRange room) {
    for (auto& [module, region] : regions) {
      if (room.size() > 0 && region.contains(room.begin)) {
        region.free(room);
      }
    }
  }

  /// What copies have counted is charged then. The target had used so much CPU time the last time.
  core::TimePoint next_charge;
  core::Duration looked_at_cpu{};
  /// What copies have counted of transfers was taken then; all of it, if none was lost since.
  core::TimePoint transfers_taken;
  /// No copies from now on: there is no memory for them, or the counters' segment is in use.
  bool is_refused = false;
  /// There is no room for more counters.
  bool is_full = false;
  /// Threads may still be in copies: the memory stays.
  bool is_in_use = false;
};

}  // namespace sp::supervisor
