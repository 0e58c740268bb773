#include "supervisor/copies/copy_region.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "arch/native.h"
#include "core/page.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using core::Address;
using core::AddressRange;

constexpr std::uint64_t kSmallest = std::uint64_t{64} << 10U;
/// Left free on both sides: a stack or a heap may grow there.
constexpr std::uint64_t kMargin = std::uint64_t{128} << 10U;
/// How much less than the CPU's reach is used: instructions are longer than their fields.
constexpr std::uint64_t kSlack = core::kPageSize;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) & ~(to - 1);
}

/// Between the mappings, with margins, in the order of addresses.
std::vector<AddressRange> gaps_between(const std::vector<core::Mapping>& maps) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << arch::Native::kAddressBits;
  std::vector<AddressRange> gaps;
  std::uint64_t begin = core::kLowestMapping;
  const auto add = [&](std::uint64_t end) {
    end = std::min(end, kEnd);  // [vsyscall] is behind it
    if (end >= begin + 2 * kMargin) {
      gaps.push_back({Address{round_up(begin + kMargin, core::kPageSize)}, Address{end - kMargin}});
    }
  };
  for (const core::Mapping& mapping : maps) {
    add(mapping.range.begin.value());
    begin = std::max(begin, mapping.range.end.value());
  }
  add(kEnd);
  return gaps;
}

}  // namespace

std::optional<AddressRange> find_copy_gap(const std::vector<core::Mapping>& maps,
                                          AddressRange module, std::uint64_t size) {
  constexpr std::uint64_t kReach = arch::Native::kJumpReach - kSlack;
  if (module.size() + size > kReach) {
    return std::nullopt;
  }
  const std::uint64_t lowest = module.end.value() > kReach ? module.end.value() - kReach : 0;
  // Below 2 GiB a displacement without a base leads to what code there refers to by one.
  constexpr std::uint64_t kWithoutBase = std::uint64_t{1} << 31U;
  const std::uint64_t highest = module.end.value() + size < kWithoutBase
                                    ? std::min(module.begin.value() + kReach, kWithoutBase)
                                    : module.begin.value() + kReach;
  std::optional<AddressRange> below;
  std::optional<AddressRange> above;
  for (const AddressRange gap : gaps_between(maps)) {
    const std::uint64_t begin = round_up(std::max(gap.begin.value(), lowest), core::kPageSize);
    const std::uint64_t end = std::min(gap.end.value(), highest) & ~(core::kPageSize - 1);
    if (end < begin || end - begin < size) {
      continue;
    }
    const AddressRange last{Address{end - size}, Address{end}};
    (gap.end <= module.begin ? below : above) = last;
  }
  return below ? below : above;
}

std::optional<Address> CopyRegion::allocate(std::uint64_t size, std::uint64_t alignment) {
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    const Address at{round_up(gap->begin.value(), alignment)};
    if (at + size > gap->end) {
      continue;
    }
    const AddressRange before{gap->begin, at};
    const AddressRange behind{at + size, gap->end};
    gap = free_.erase(gap);
    for (const AddressRange rest : {behind, before}) {
      if (rest.size() != 0) {
        gap = free_.insert(gap, rest);
      }
    }
    return at;
  }
  return std::nullopt;
}

void CopyRegion::free(AddressRange range) {
  auto next = std::lower_bound(free_.begin(), free_.end(), range);
  if (next != free_.end() && next->begin == range.end) {
    range.end = next->end;
    next = free_.erase(next);
  }
  if (next != free_.begin() && (next - 1)->end == range.begin) {
    (next - 1)->end = range.end;
    return;
  }
  free_.insert(next, range);
}

core::Result<void> CopyRegion::grow(const RemoteCaller& caller, std::uint64_t size) {
  const auto text = read_proc(fmt::format("/proc/{}/maps", caller.tid));
  if (!text) {
    return tl::unexpected(text.error());
  }
  const auto maps = core::parse_maps(*text);
  const std::uint64_t least = round_up(std::max(size, kSmallest), core::kPageSize);
  core::Result<void> mapped = core::fail("finding room for copies", ENOMEM);
  for (std::uint64_t wanted = std::max(least, round_up(2 * text_, core::kPageSize));
       wanted >= least;) {
    const auto gap = find_copy_gap(maps, module_, wanted);
    if (gap) {
      mapped = map(caller, *gap);
    }
    if (mapped || (gap && mapped.error().code != ENOMEM) || wanted == least) {
      break;
    }
    wanted = std::max(least, round_up(wanted / 2, core::kPageSize));
  }
  return mapped;
}

core::Result<void> CopyRegion::map(const RemoteCaller& caller, AddressRange at) {
  RemoteMapping wanted{at.begin, at.size(), PROT_READ | PROT_EXEC,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE};
  auto mapped = map_in_target(caller, wanted);
  if (!mapped && (mapped.error().code == EACCES || mapped.error().code == EPERM)) {
    // SELinux refuses execmem. A file that nobody writes to may be executed; what we write goes to
    // the target's own copies of its pages.
    const auto file = make_memory_file(caller, MemoryUse::code);
    if (!file) {
      return mapped.map([](Address) {});
    }
    if (::ftruncate(file->ours.get(), static_cast<off_t>(at.size())) == 0) {
      wanted.flags = MAP_PRIVATE | MAP_FIXED_NOREPLACE;
      wanted.fd = file->in_target;
      mapped = map_in_target(caller, wanted);
    }
    close_in_target(caller, *file);
  }
  if (!mapped) {
    return tl::unexpected(mapped.error());
  }
  regions_.push_back(at);
  free(at);
  return {};
}

bool CopyRegion::contains(Address pc) const {
  return std::any_of(regions_.begin(), regions_.end(),
                     [pc](AddressRange region) { return region.contains(pc); });
}

std::uint64_t CopyRegion::mapped() const {
  std::uint64_t sum = 0;
  for (const AddressRange region : regions_) {
    sum += region.size();
  }
  return sum;
}

std::uint64_t CopyRegion::used() const {
  std::uint64_t unused = 0;
  for (const AddressRange gap : free_) {
    unused += gap.size();
  }
  return mapped() - unused;
}

void CopyRegion::unmap(const RemoteCaller& caller) const {
  for (const AddressRange region : regions_) {
    unmap_in_target(caller, region);
  }
}

}  // namespace sp::supervisor
