#include "supervisor/breakpoints/written_code.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "arch/native.h"
#include "core/page.h"
#include "supervisor/breakpoints/page_edits.h"

namespace sp::supervisor {

using arch::Native;

bool is_unchanged(const TargetMemory& memory, const BreakpointSite& site) {
  constexpr std::size_t kSize = Native::kBreakpoint.size();
  const std::size_t length = site.instruction.length;
  if (length <= kSize) {
    return true;
  }
  std::array<std::byte, kLongestCode> there{};
  return memory.read(site.instruction.address, std::span(there).first(length)) != length ||
         (is_breakpoint(there) &&
          std::equal(there.begin() + kSize, there.begin() + length, site.code.begin() + kSize));
}

bool is_breakpoint_at(const TargetMemory& memory, core::Address address) {
  std::array<std::byte, Native::kBreakpoint.size()> there{};
  return memory.read(address, there) == there.size() && is_breakpoint(there);
}

std::vector<BreakpointSite*> find_overwritten(const TargetMemory& memory,
                                              std::span<BreakpointSite* const> inserted) {
  constexpr std::size_t kMost = 16 * core::kPageSize;
  std::vector<BreakpointSite*> gone;
  std::vector<std::byte> there(kMost);
  for (auto first = inserted.begin(); first != inserted.end();) {
    const core::Address begin = (*first)->instruction.address;
    auto last = std::next(first);
    // What is far from the one before may be behind memory that cannot be read.
    while (last != inserted.end() &&
           (*last)->instruction.address - (*std::prev(last))->instruction.address <
               core::kPageSize &&
           (*last)->instruction.address - begin + Native::kBreakpoint.size() <= kMost) {
      ++last;
    }
    const std::size_t size =
        memory.read(begin, std::span(there).first((*std::prev(last))->instruction.address - begin +
                                                  Native::kBreakpoint.size()));
    for (; first != last; ++first) {
      const std::size_t at = (*first)->instruction.address - begin;
      if (at + Native::kBreakpoint.size() <= size && !is_breakpoint(std::span(there).subspan(at))) {
        gone.push_back(*first);
      }
    }
  }
  return gone;
}

void remove_written_back(const TargetMemory& memory, const BreakpointSite& site) {
  if (!site.inserted && !is_breakpoint(site.code) &&
      is_breakpoint_at(memory, site.instruction.address)) {
    (void)memory.write(site.instruction.address,
                       std::span(site.code).first(Native::kBreakpoint.size()));
  }
}

void ForgottenSites::remember(const BreakpointSite& site) {
  constexpr std::size_t kMost = 8;
  std::vector<BreakpointSite>& known = sites_[site.instruction.address];
  std::erase_if(known, [&](const BreakpointSite& each) { return each.code == site.code; });
  if (known.size() == kMost) {
    known.erase(known.begin());
  }
  BreakpointSite& newest = known.emplace_back();
  newest.instruction = site.instruction;
  newest.code = site.code;
}

bool ForgottenSites::remove_written_back(const TargetMemory& memory, core::Address address) {
  const auto found = sites_.find(address);
  if (found == sites_.end()) {
    return false;
  }
  const BreakpointSite* const written = former(memory, address);
  const BreakpointSite site = written != nullptr ? *written : found->second.back();
  supervisor::remove_written_back(memory, site);
  // The next one there may be the program's own.
  std::erase_if(found->second, [&](const BreakpointSite& each) { return each.code == site.code; });
  if (found->second.empty()) {
    sites_.erase(found);
  }
  return true;
}

const BreakpointSite* ForgottenSites::former(const TargetMemory& memory,
                                             core::Address address) const {
  const auto found = sites_.find(address);
  if (found == sites_.end()) {
    return nullptr;
  }
  const auto written =
      std::find_if(found->second.rbegin(), found->second.rend(),
                   [&](const BreakpointSite& site) { return is_unchanged(memory, site); });
  return written == found->second.rend() ? nullptr : &*written;
}

}  // namespace sp::supervisor
