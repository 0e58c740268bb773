#include "supervisor/breakpoints/original_code.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/breakpoint_site.h"

namespace sp::supervisor {

using core::Address;

void OriginalCode::set_maps(const std::vector<core::Mapping>& maps) {
  regions_.set(maps);
  maps_are_old_ = false;
}

std::optional<core::Instruction> OriginalCode::decode(const TargetMemory& memory, Address address) {
  std::array<std::byte, kLongestCode> code;
  const std::size_t size = fetch(memory, address, code);
  return arch::Native::decode(std::span(code).first(size), address);
}

std::size_t OriginalCode::fetch(const TargetMemory& memory, Address from,
                                std::span<std::byte> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    const Address at = from + got;
    const Page* const known = page(memory, at);
    if (known == nullptr) {
      return got + memory.read(at, into.subspan(got));
    }
    const std::uint64_t offset = at.value() % core::kPageSize;
    const std::size_t size = std::min<std::size_t>(into.size() - got, core::kPageSize - offset);
    std::memcpy(into.data() + got, known->data() + offset, size);
    got += size;
  }
  return got;
}

/// Null where the page may change, or does not exist.
const OriginalCode::Page* OriginalCode::page(const TargetMemory& memory, Address address) {
  const std::uint64_t number = address.value() / core::kPageSize;
  if (const auto found = pages_.find(number); found != pages_.end()) {
    return found->second.get();
  }
  if (regions_.at(address) != CodeKind::file_backed) {
    return nullptr;
  }
  auto fresh = std::make_shared<Page>();
  if (memory.read(Address{number * core::kPageSize}, *fresh) != core::kPageSize) {
    return nullptr;  // beyond the end of its file
  }
  return (pages_[number] = std::move(fresh)).get();
}

bool OriginalCode::keeps(core::AddressRange range) const {
  for (std::uint64_t page = range.begin.value() / core::kPageSize;
       page * core::kPageSize < range.end.value(); ++page) {
    if (!pages_.contains(page)) {
      return false;
    }
  }
  return true;
}

void OriginalCode::forget(core::AddressRange range) {
  const std::uint64_t first = range.begin.value() / core::kPageSize;
  const std::uint64_t end = (range.end.value() + core::kPageSize - 1) / core::kPageSize;
  std::erase_if(pages_,
                [&](const auto& entry) { return entry.first >= first && entry.first < end; });
}

}  // namespace sp::supervisor
