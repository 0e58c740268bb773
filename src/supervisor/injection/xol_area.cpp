#include "supervisor/injection/xol_area.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "arch/native.h"
#include "core/mapping.h"
#include "core/page.h"
#include "supervisor/injection/remote_syscall.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

constexpr std::uint64_t kRegionSize = std::uint64_t{64} << 10U;
constexpr std::uint64_t kSlot = 64;
static_assert(Native::kLongestRelocation <= kSlot);
constexpr std::uint32_t kSlotsOfSequence = (Native::kLongestRelocatedSequence + kSlot - 1) / kSlot;

/// The end of the nearest gap below the mapping that holds `near`.
std::optional<Address> gap_below(const std::vector<core::Mapping>& maps, Address near) {
  std::uint64_t end_of_last = core::kLowestMapping;
  std::optional<Address> gap;
  for (const core::Mapping& mapping : maps) {
    if (mapping.range.begin > near) {
      break;
    }
    // Leaves space on both sides: a stack or a heap may grow there.
    if (mapping.range.begin.value() >= end_of_last + 2 * kRegionSize &&
        near - mapping.range.begin < Native::kJumpReach / 2) {
      gap = mapping.range.begin - kRegionSize;
    }
    end_of_last = mapping.range.end.value();
  }
  return gap;
}

/// Whether /proc/TID/maps shows a region of ours; two adjacent ones are one mapping there.
bool is_mapped(pid_t tid, core::AddressRange region) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  const auto maps = text ? core::parse_maps(*text) : std::vector<core::Mapping>{};
  return std::any_of(maps.begin(), maps.end(), [&region](const core::Mapping& mapping) {
    return mapping.range.begin <= region.begin && region.end <= mapping.range.end &&
           mapping.inode == 0 && !mapping.shared && mapping.executable && !mapping.writable;
  });
}

/// A thread that stands behind the breakpoint at `site` is put in front of it: if we are killed in
/// a call that it makes for us, that is where it goes on, and it meets the breakpoint again.
void put_before(pid_t tid, Address site) {
  auto registers = ptrace::registers(tid);
  const Address pc = registers ? Native::pc(*registers) : site;
  if (pc != site && Native::breakpoint_of_trap(pc) == site) {
    Native::set_pc(*registers, site);
    (void)ptrace::set_registers(tid, *registers);
  }
}

bool reaches(Address a, Address b) {
  return (a > b ? a - b : b - a) < Native::kJumpReach - kRegionSize;
}

}  // namespace

std::optional<Address> XolArea::copy_of(Address site, std::span<const std::byte> code,
                                        const TargetMemory& memory, Address call, pid_t tid) {
  if (const auto known = copies_.find(site); known != copies_.end()) {
    return known->second;
  }
  Region* const region = region_for(site, 1, call, tid);
  return region == nullptr ? std::nullopt : put(*region, site, code, memory);
}

XolArea::Region* XolArea::region_for(Address site, std::uint32_t slots, Address call, pid_t tid) {
  for (Region& region : regions_) {
    if (reaches(region.range.begin, site) && (region.used + slots) * kSlot <= kRegionSize) {
      return &region;
    }
  }
  return call == Address{} ? nullptr : make_region(site, call, tid);
}

const XolArea::Sequence* XolArea::copy_of_sequence(Address site, std::span<const std::byte> code,
                                                   const TargetMemory& memory, Address call,
                                                   pid_t tid) {
  if (const auto known = sequences_.find(site); known != sequences_.end()) {
    return &known->second;
  }
  Region* const region = region_for(site, kSlotsOfSequence, call, tid);
  if (region == nullptr) {
    return nullptr;
  }
  const Address at = region->range.begin + region->used * kSlot;
  const auto copy = Native::relocate_atomic_sequence(code, site, at);
  if (!copy || !memory.write(at, copy->code)) {
    return nullptr;
  }
  Sequence sequence{at, {}};
  for (const auto& exit : copy->exits) {
    sequence.exits.push_back(at + exit.offset);
  }
  region->used += kSlotsOfSequence;
  region->sites.insert(region->sites.end(), kSlotsOfSequence, site);
  return &sequences_.emplace(site, std::move(sequence)).first->second;
}

void XolArea::make_room(Address near, Address call, pid_t tid) {
  const bool is_there = std::any_of(regions_.begin(), regions_.end(), [near](const Region& region) {
    return reaches(region.range.begin, near);
  });
  if (!is_there && call != Address{}) {
    (void)make_region(near, call, tid);
  }
}

std::optional<Address> XolArea::put(Region& region, Address site, std::span<const std::byte> code,
                                    const TargetMemory& memory) {
  const Address at = region.range.begin + region.used * kSlot;
  const auto copy = Native::relocate(code, site, at);
  if (!copy || !memory.write(at, *copy)) {
    return std::nullopt;
  }
  ++region.used;
  region.sites.push_back(site);
  copies_.emplace(site, at);
  return at;
}

XolArea::Region* XolArea::make_region(Address near, Address call, pid_t tid) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", tid));
  const auto gap = text ? gap_below(core::parse_maps(*text), near) : std::nullopt;
  if (!gap) {
    return nullptr;
  }
  put_before(tid, near);
  const auto made =
      remote_syscall(tid, call, SYS_mmap,
                     {gap->value(), kRegionSize, PROT_READ | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, ~std::uint64_t{0}, 0},
                     true);
  if (!made || *made < 0) {
    return nullptr;
  }
  const Address begin{static_cast<std::uint64_t>(*made)};
  regions_.push_back({{begin, begin + kRegionSize}, 0, {}});
  return &regions_.back();
}

std::optional<XolArea::Inside> XolArea::at(Address pc) const {
  for (const Region& region : regions_) {
    if (region.range.contains(pc)) {
      const std::uint64_t offset = pc - region.range.begin;
      if (offset / kSlot < region.used) {
        return Inside{region.sites[offset / kSlot], offset % kSlot != 0};
      }
    }
  }
  return std::nullopt;
}

std::vector<core::AddressRange> XolArea::resync_child(const TargetMemory& child, pid_t tid,
                                                      const TargetMemory& parent) {
  std::vector<core::AddressRange> missing;
  std::vector<std::byte> wanted;
  std::vector<std::byte> there;
  for (const Region& region : regions_) {
    wanted.resize(std::max(region.used, 1U) * kSlot);
    there.resize(wanted.size());
    const bool is_readable = child.read(region.range.begin, there) == there.size();
    if (is_readable &&
        (parent.read(region.range.begin, wanted) != wanted.size() || wanted == there)) {
      continue;
    }
    if (!is_readable || !is_mapped(tid, region.range) || !child.write(region.range.begin, wanted)) {
      missing.push_back(region.range);
    }
  }
  for (const core::AddressRange range : missing) {
    std::erase_if(regions_, [range](const Region& region) { return region.range == range; });
    std::erase_if(copies_, [range](const auto& copy) { return range.contains(copy.second); });
    std::erase_if(sequences_, [range](const auto& copy) { return range.contains(copy.second.at); });
  }
  return missing;
}

void XolArea::forget(core::AddressRange range) {
  const auto inside = [&range](const auto& copy) { return range.contains(copy.first); };
  std::erase_if(copies_, inside);
  std::erase_if(sequences_, inside);
}

void XolArea::remove(Address call, pid_t tid) {
  for (const Region& region : regions_) {
    (void)remote_syscall(tid, call, SYS_munmap,
                         {region.range.begin.value(), kRegionSize, 0, 0, 0, 0});
  }
  regions_.clear();
  copies_.clear();
  sequences_.clear();
}

}  // namespace sp::supervisor
