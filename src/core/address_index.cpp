#include "core/address_index.h"

namespace sp::core {
namespace {

std::uint64_t page_of(Address address) { return address.value() / kPageSize; }

std::uint16_t offset_of(Address address) {
  return static_cast<std::uint16_t>(address.value() % kPageSize);
}

/// The entry with that offset, or where it belongs.
auto place_of(auto& page, Address address) {
  return std::lower_bound(page.begin(), page.end(), offset_of(address),
                          [](const auto& entry, std::uint16_t at) { return entry.offset < at; });
}

}  // namespace

std::uint32_t AddressIndex::find(Address address) const {
  const auto page = pages_.find(page_of(address));
  if (page == pages_.end()) {
    return kNone;
  }
  const auto entry = place_of(page->second, address);
  return entry != page->second.end() && entry->offset == offset_of(address) ? entry->number : kNone;
}

bool AddressIndex::add(Address address, std::uint32_t number) {
  Page& page = pages_[page_of(address)];
  const auto at = place_of(page, address);
  if (at != page.end() && at->offset == offset_of(address)) {
    return false;
  }
  page.insert(at, {offset_of(address), number});
  return true;
}

void AddressIndex::erase(AddressRange range) {
  for (const std::uint64_t number : pages_in(range)) {
    Page& page = pages_.at(number);
    std::erase_if(page, [&](const Entry& entry) {
      return range.contains(Address{number * kPageSize + entry.offset});
    });
    if (page.empty()) {
      pages_.erase(number);
    }
  }
}

std::vector<std::uint64_t> AddressIndex::pages_in(AddressRange range) const {
  std::vector<std::uint64_t> numbers;
  if (range.begin >= range.end) {
    return numbers;
  }
  const std::uint64_t first = page_of(range.begin);
  const std::uint64_t last = page_of(range.end - 1);
  if (last - first < pages_.size()) {
    for (std::uint64_t number = first; number <= last; ++number) {
      if (pages_.contains(number)) {
        numbers.push_back(number);
      }
    }
    return numbers;
  }
  for (const auto& [number, page] : pages_) {
    if (first <= number && number <= last) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace sp::core
