#include "supervisor/copies/copied_functions.h"

#include <iterator>
#include <utility>

namespace sp::supervisor {

using core::Address;

void CopiedFunctions::add(Copy copy) {
  Copy& of_original = by_original_[copy->original.begin];
  if (of_original != nullptr) {
    forget_second_jumps(*of_original);
  }
  for (const core::CopyLanding& landing : copy->landings) {
    if (landing.via_size > 0) {
      second_jumps_[landing.via] = landing.at;
    }
  }
  of_original = copy;
  by_copy_[copy->at] = std::move(copy);
}

void CopiedFunctions::remove(Address original) {
  if (const auto found = by_original_.find(original); found != by_original_.end()) {
    forget_second_jumps(*found->second);
    by_copy_.erase(found->second->at);
    by_original_.erase(found);
  }
}

void CopiedFunctions::forget_second_jumps(const core::FunctionCopy& copy) {
  for (const core::CopyLanding& landing : copy.landings) {
    if (landing.via_size > 0) {
      second_jumps_.erase(landing.via);
    }
  }
}

std::optional<Address> CopiedFunctions::leader_of_second_jump(Address pc) const {
  const auto found = second_jumps_.find(pc);
  return found != second_jumps_.end() ? std::optional(found->second) : std::nullopt;
}

/// The entry with the largest address that is not above `address`.
CopiedFunctions::Copy CopiedFunctions::below(const Index& index, Address address) {
  const auto above = index.upper_bound(address);
  return above != index.begin() ? std::prev(above)->second : nullptr;
}

CopiedFunctions::Copy CopiedFunctions::at(Address pc) const {
  Copy copy = below(by_copy_, pc);
  return copy != nullptr && copy->range().contains(pc) ? copy : nullptr;
}

CopiedFunctions::Copy CopiedFunctions::of(Address original) const {
  Copy copy = below(by_original_, original);
  return copy != nullptr && copy->original.contains(original) ? copy : nullptr;
}

std::vector<CopiedFunctions::Copy> CopiedFunctions::all() const {
  std::vector<Copy> copies;
  for (const auto& [begin, copy] : by_original_) {
    copies.push_back(copy);
  }
  return copies;
}

std::vector<CopiedFunctions::Copy> CopiedFunctions::in(core::AddressRange original) const {
  std::vector<Copy> copies;
  auto next = by_original_.upper_bound(original.begin);
  if (next != by_original_.begin() && original.begin < std::prev(next)->second->original.end) {
    --next;
  }
  for (; next != by_original_.end() && next->first < original.end; ++next) {
    copies.push_back(next->second);
  }
  return copies;
}

}  // namespace sp::supervisor
