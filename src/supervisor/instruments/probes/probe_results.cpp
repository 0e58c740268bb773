#include <utility>
#include <vector>

#include "supervisor/instruments/probes/probed_code.h"

// What was counted.
namespace sp::supervisor {

using core::Address;

void ProbedCode::collect_copies(bool is_still) {
  if (copy_space_ == nullptr || !copy_space_->slots) {
    return;
  }
  CounterSlots& slots = *copy_space_->slots;
  const std::uint64_t base = slots.counters_at(0);
  copy_use_ += copies_.collect(
      blocks_,
      [&](std::uint64_t first, std::uint32_t count) {
        return slots.sums(static_cast<std::uint32_t>((first - base) / sizeof(first)), count);
      },
      core::Clock::now(), is_still ? 0 : slots.threads());
  if (is_still) {
    collect_transfers();
  }
}

void ProbedCode::collect_transfers() {
  if (copy_space_ == nullptr || !copy_space_->slots) {
    return;
  }
  const core::TimePoint now = core::Clock::now();
  CounterSlots& slots = *copy_space_->slots;
  copies_.add_transfers(slots.take_transfers(), blocks_, now);
  if (slots.lost_transfers() > 0) {
    copies_.end_transfers(blocks_, copy_space_->transfers_taken);
  } else {
    copy_space_->transfers_taken = now;
  }
}

core::CodeProbed ProbedCode::take(bool is_still) {
  collect_copies(is_still);
  if (!is_still) {
    collect_transfers();
  }
  propagate_counts();
  core::CodeProbed probed;
  probed.edges = propagation_.take_edges();
  const auto of_copies = copies_.take_edges();
  probed.edges.insert(probed.edges.end(), of_copies.begin(), of_copies.end());
  probed.blocks = blocks_.take_changes();
  if (trace_) {
    // Other blocks have no probes, or some that only show where a function is left.
    std::erase_if(probed.blocks, [this](const core::ProbedBlock<Address>& block) {
      const ProbedFunction* const function = functions_.at(block.start);
      return function == nullptr || function->is_part || function->bounds.begin != block.start;
    });
  }
  probed.functions = std::exchange(untold_functions_, {});
  return probed;
}

}  // namespace sp::supervisor
