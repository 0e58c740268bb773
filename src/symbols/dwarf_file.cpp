#include "symbols/dwarf_file.h"

#include <dwarf.h>

#include <algorithm>
#include <utility>

namespace sp::symbols {
namespace {

/// Linkers mark ranges of dropped functions with an address near 0 or near the top (a tombstone).
bool is_dropped(const CodeRange& range) {
  constexpr std::uint64_t kLowest = 16;
  constexpr std::uint64_t kHighest = ~std::uint64_t{0} - 16;
  return range.begin < kLowest || range.end > kHighest || range.end <= range.begin;
}

/// libelf records in a section's header that it has decompressed the section. It writes in place,
/// so such a file must not be read from its read-only mapping.
bool is_compressed(const ElfSections& file) {
  return std::any_of(file.all().begin(), file.all().end(), [](const Section& section) {
    return (section.flags & SHF_COMPRESSED) != 0 || section.name.starts_with(".zdebug");
  });
}

}  // namespace

std::vector<CodeRange> code_ranges(Dwarf_Die& die) {
  constexpr std::size_t kMostRanges = std::size_t{1} << 16U;
  std::vector<CodeRange> ranges;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t at = 0;
  for (std::size_t i = 0; i < kMostRanges; ++i) {
    at = dwarf_ranges(&die, at, &base, &begin, &end);
    if (at <= 0) {
      break;
    }
    if (const CodeRange range{begin, end}; !is_dropped(range)) {
      ranges.push_back(range);
    }
  }
  return ranges;
}

DwarfFile::Handle DwarfFile::open(std::optional<ElfSections> file) {
  Handle handle;
  if (!file) {
    return handle;
  }
  elf_version(EV_CURRENT);
  std::span<const std::byte> bytes = file->file_bytes();
  if (is_compressed(*file)) {
    handle.copy.assign(bytes.begin(), bytes.end());
    bytes = handle.copy;
  }
  // elf_memory takes a pointer to non-const but does not write through it when reading.
  auto* image =
      static_cast<char*>(static_cast<void*>(const_cast<std::byte*>(bytes.data())));  // NOLINT
  handle.elf = elf_memory(image, bytes.size());
  if (handle.elf != nullptr) {
    handle.dwarf = dwarf_begin_elf(handle.elf, DWARF_C_READ, nullptr);
  }
  handle.file = std::move(file);
  return handle;
}

void DwarfFile::close(Handle& handle) {
  dwarf_end(handle.dwarf);
  elf_end(handle.elf);
}

DwarfFile::DwarfFile(ElfSections file, std::optional<ElfSections> alternate)
    : main_(open(std::move(file))), alternate_(open(std::move(alternate))) {
  if (main_.dwarf != nullptr && alternate_.dwarf != nullptr) {
    dwarf_setalt(main_.dwarf, alternate_.dwarf);
  }
}

DwarfFile::~DwarfFile() {
  close(main_);
  close(alternate_);
}

void DwarfFile::index_units() {
  indexed_ = true;
  Dwarf_CU* unit = nullptr;
  Dwarf_Half version = 0;
  std::uint8_t type = 0;
  Unit dies{};
  while (dwarf_get_units(main_.dwarf, unit, &unit, &version, &type, &dies.lines, &dies.functions) ==
         0) {
    if (dwarf_tag(&dies.lines) != DW_TAG_compile_unit &&
        dwarf_tag(&dies.lines) != DW_TAG_skeleton_unit) {
      continue;
    }
    if (type != DW_UT_skeleton || dies.functions.addr == nullptr) {
      dies.functions = dies.lines;
    }
    const auto index = static_cast<std::uint32_t>(units_.size());
    units_.push_back(dies);
    for (const CodeRange& range : code_ranges(dies.lines)) {
      ranges_.push_back({range, index});
      longest_ = std::max(longest_, range.end - range.begin);
    }
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const UnitRange& a, const UnitRange& b) {
    return a.range.begin != b.range.begin ? a.range.begin < b.range.begin : a.unit < b.unit;
  });
}

std::uint32_t DwarfFile::unit_count() {
  if (valid() && !indexed_) {
    index_units();
  }
  return static_cast<std::uint32_t>(units_.size());
}

std::vector<std::uint32_t> DwarfFile::units_at(std::uint64_t address) {
  std::vector<std::uint32_t> found;
  if (!valid()) {
    return found;
  }
  if (!indexed_) {
    index_units();
  }
  auto at = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](std::uint64_t a, const UnitRange& other) { return a < other.range.begin; });
  // Ranges of odd files may overlap: search back as far as a range could reach.
  constexpr int kFarthest = 1000;
  for (int steps = 0; at != ranges_.begin() && steps < kFarthest; ++steps) {
    --at;
    if (address - at->range.begin >= longest_) {
      break;
    }
    if (at->range.contains(address) &&
        std::find(found.begin(), found.end(), at->unit) == found.end()) {
      found.push_back(at->unit);
    }
  }
  return found;
}

}  // namespace sp::symbols
