#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "core/bytes.h"
#include "symbols/relocated_words.h"
#include "symbols/xray_map.h"

namespace sp::symbols {
namespace {

constexpr std::uint64_t kIndexEntrySize = 16;
constexpr std::uint64_t kSledEntrySize = 32;

enum class IndexLayout : std::uint8_t { absolute, relative_begin, counted };
constexpr std::array kLayouts = {IndexLayout::counted, IndexLayout::absolute,
                                 IndexLayout::relative_begin};

/// As a run of the map's entries that an index has at `at`.
class IndexReader {
 public:
  IndexReader(const ElfSections& sections, const Section& index, std::uint64_t map_address)
      : bytes_(sections.bytes(index)),
        address_(index.address),
        words_(sections, index.address, index.address + index.size),
        map_address_(map_address) {}

  [[nodiscard]] std::uint64_t size() const { return bytes_.size() / kIndexEntrySize; }
  [[nodiscard]] bool agrees(std::uint64_t entry, const SledRun& run, IndexLayout layout) const;

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  RelocatedWords words_;
  std::uint64_t map_address_;
};

bool IndexReader::agrees(std::uint64_t entry, const SledRun& run, IndexLayout layout) const {
  const std::uint64_t at = entry * kIndexEntrySize;
  const std::uint64_t first = core::read_at<std::uint64_t>(bytes_, at).value_or(0);
  const std::uint64_t second = core::read_at<std::uint64_t>(bytes_, at + 8).value_or(0);
  const std::uint64_t begin =
      layout == IndexLayout::absolute ? words_.value(address_ + at, first) : address_ + at + first;
  const std::uint64_t end = layout == IndexLayout::counted
                                ? begin + second * kSledEntrySize
                                : words_.value(address_ + at + 8, second);
  return begin == map_address_ + run.begin * kSledEntrySize &&
         end == map_address_ + run.end * kSledEntrySize;
}

/// How many entries agree before the first one that does not.
std::uint64_t agreeing(const IndexReader& index, const std::vector<SledRun>& runs,
                       IndexLayout layout) {
  std::uint64_t entry = 0;
  while (entry < index.size() && entry < runs.size() && index.agrees(entry, runs[entry], layout)) {
    ++entry;
  }
  return entry;
}

}  // namespace

std::string compare_xray_index(const ElfSections& sections, const std::vector<SledRun>& runs,
                               std::uint64_t map_address) {
  const Section* const section = sections.find("xray_fn_idx");
  if (section == nullptr || section->type == SHT_NOBITS || section->size == 0) {
    return "";
  }
  const IndexReader index(sections, *section, map_address);
  std::uint64_t most = 0;
  for (const IndexLayout layout : kLayouts) {
    most = std::max(most, agreeing(index, runs, layout));
  }
  if (index.size() != runs.size()) {
    return fmt::format("xray_fn_idx has {} functions, xray_instr_map has {}; the map is used",
                       index.size(), runs.size());
  }
  return most == runs.size()
             ? ""
             : fmt::format(
                   "xray_fn_idx differs from xray_instr_map at function {}; the map is used",
                   most + 1);
}

}  // namespace sp::symbols
