#include "supervisor/breakpoints/site_table.h"

namespace sp::supervisor {

std::pair<BreakpointSite*, bool> SiteTable::try_emplace(const core::Instruction& instruction) {
  if (BreakpointSite* const known = find(instruction.address)) {
    return {known, false};
  }
  auto number = static_cast<std::uint32_t>(sites_.size());
  if (free_.empty()) {
    sites_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  (void)index_.add(instruction.address, number);
  sites_[number].instruction = instruction;
  return {&sites_[number], true};
}

void SiteTable::erase(core::AddressRange range) {
  index_.for_each(range, [this](std::uint32_t number) {
    sites_[number] = BreakpointSite{};
    free_.push_back(number);
  });
  index_.erase(range);
}

}  // namespace sp::supervisor
