#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "arch/native.h"
#include "core/page.h"
#include "supervisor/breakpoints/breakpoint_site.h"
#include "supervisor/linux/target_memory.h"

/// Inserting and removing many breakpoints with one read and one write a page.
namespace sp::supervisor {

/// Sorts `sites` by address and calls `visit(sites of one page, page number)` for each page.
template <typename Visit>
void for_each_page(std::vector<BreakpointSite*>& sites, const Visit& visit) {
  const auto is_below = [](const BreakpointSite* a, const BreakpointSite* b) {
    return a->instruction.address < b->instruction.address;
  };
  if (!std::is_sorted(sites.begin(), sites.end(), is_below)) {
    std::sort(sites.begin(), sites.end(), is_below);
  }
  for (auto first = sites.begin(); first != sites.end();) {
    const std::uint64_t page = (*first)->instruction.address.value() / core::kPageSize;
    const auto last = std::find_if(first, sites.end(), [&](const BreakpointSite* site) {
      return site->instruction.address.value() / core::kPageSize != page;
    });
    visit(std::span<BreakpointSite* const>(first, last), page);
    first = last;
  }
}

/// Reads the bytes around `sites`, which lie in one page, calls `change(site, bytes there)` for
/// each, which returns whether it changed the bytes, and writes them back if `before_write`, called
/// first, returns true. False where that or the write failed.
template <typename Change, typename BeforeWrite>
bool edit_page(const TargetMemory& memory, std::span<BreakpointSite* const> sites,
               const Change& change, const BeforeWrite& before_write) {
  constexpr std::size_t kSize = arch::Native::kBreakpoint.size();
  const core::Address begin = sites.front()->instruction.address;
  std::array<std::byte, core::kPageSize + kLongestCode> there;
  const auto span =
      std::span(there).first(sites.back()->instruction.address - begin + kLongestCode);
  const std::size_t size = memory.read(begin, span);
  std::size_t first = size;  // of what changes
  std::size_t end = 0;
  for (BreakpointSite* const site : sites) {
    const std::size_t at = site->instruction.address - begin;
    if (at + kSize <= size && change(*site, span.first(size).subspan(at))) {
      first = std::min(first, at);
      end = std::max(end, at + kSize);
    }
  }
  return first >= end ||
         (before_write() && memory.write(begin + first, span.subspan(first, end - first)));
}
template <typename Change>
bool edit_page(const TargetMemory& memory, std::span<BreakpointSite* const> sites,
               const Change& change) {
  return edit_page(memory, sites, change, [] { return true; });
}

/// A breakpoint instruction stands there.
[[nodiscard]] inline bool is_breakpoint(std::span<const std::byte> there) {
  return std::equal(arch::Native::kBreakpoint.begin(), arch::Native::kBreakpoint.end(),
                    there.begin());
}

/// Copies the first bytes of `code`, as many as a breakpoint takes.
inline void put_code(std::span<const std::byte> code, std::span<std::byte> there) {
  std::copy_n(code.begin(), arch::Native::kBreakpoint.size(), there.begin());
}

}  // namespace sp::supervisor
