#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/address_index.h"
#include "core/stable_vector.h"
#include "supervisor/breakpoints/breakpoint_site.h"

namespace sp::supervisor {

/// Sites by address. One that is not erased never moves. Pure.
class SiteTable {
 public:
  [[nodiscard]] BreakpointSite* find(core::Address address) {
    const std::uint32_t number = index_.find(address);
    return number == core::AddressIndex::kNone ? nullptr : &sites_[number];
  }
  [[nodiscard]] bool contains(core::Address address) const {
    return index_.find(address) != core::AddressIndex::kNone;
  }
  /// The site at the instruction; true: it is new, and has only that.
  std::pair<BreakpointSite*, bool> try_emplace(const core::Instruction& instruction);
  /// `visit(site)` for each in the range, in the order of addresses.
  template <typename Visit>
  void for_each(core::AddressRange range, const Visit& visit) {
    index_.for_each(range, [&](std::uint32_t number) { visit(sites_[number]); });
  }
  void erase(core::AddressRange range);

 private:
  core::AddressIndex index_;
  core::StableVector<BreakpointSite> sites_;
  std::vector<std::uint32_t> free_;  // numbers of those that were erased
};

}  // namespace sp::supervisor
