#include "symbols/fde_bounds.h"

#include <dwarf.h>

#include <algorithm>
#include <utility>

#include "core/bytes.h"
#include "symbols/eh_frame.h"

namespace sp::symbols {
namespace {

constexpr std::uint64_t kEntrySize = 8;

std::int64_t signed_word(std::span<const std::byte> bytes, std::uint64_t at) {
  return core::read_at<std::int32_t>(bytes, at).value_or(0);
}

}  // namespace

FdeBounds::FdeBounds(std::shared_ptr<const core::ElfImage> image, const ElfSections& sections)
    : image_(std::move(image)) {
  if (image_ == nullptr) {
    return;
  }
  table_ = header_table();
  const Section* frames = sections.find(".eh_frame");
  if (!table_ && frames != nullptr) {
    read_all(sections.bytes(*frames), frames->address);
  }
}

// LSB, ".eh_frame_hdr": version 1, three encodings, the address of .eh_frame, the number of
// entries, the entries. Only the encoding that every linker writes (0x3b) can be searched.
std::optional<FdeBounds::Table> FdeBounds::header_table() const {
  const auto piece = image_->eh_frame_header();
  if (!piece) {
    return std::nullopt;
  }
  FrameReader reader(core::cut(image_->bytes_at(piece->address), 0, piece->size), piece->address);
  const auto version = reader.take<std::uint8_t>();
  const auto frames_encoding = reader.take<std::uint8_t>();
  const auto count_encoding = reader.take<std::uint8_t>();
  const auto table_encoding = reader.take<std::uint8_t>();
  if (version != 1 || table_encoding != (DW_EH_PE_datarel | DW_EH_PE_sdata4) ||
      count_encoding == DW_EH_PE_omit) {
    return std::nullopt;
  }
  reader.take_encoded(frames_encoding, piece->address);
  const std::uint64_t count = reader.take_encoded(count_encoding, piece->address);
  if (reader.failed() || count == 0 || count > reader.left() / kEntrySize) {
    return std::nullopt;
  }
  return Table{core::cut(image_->bytes_at(reader.address()), 0, count * kEntrySize),
               piece->address};
}

std::optional<CodeRange> FdeBounds::find_in(const Table& table, std::uint64_t address) const {
  const auto wanted = static_cast<std::int64_t>(address - table.base);
  std::uint64_t low = 0;
  std::uint64_t high = table.entries.size() / kEntrySize;
  while (low < high) {  // the first entry behind `wanted`
    const std::uint64_t middle = low + (high - low) / 2;
    if (signed_word(table.entries, middle * kEntrySize) <= wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) {
    return std::nullopt;
  }
  const auto distance = signed_word(table.entries, (low - 1) * kEntrySize + 4);
  return read_frame_record(*image_, table.base + static_cast<std::uint64_t>(distance)).covers;
}

void FdeBounds::read_all(std::span<const std::byte> frames, std::uint64_t frames_address) {
  const std::uint64_t end = frames_address + frames.size();
  std::uint64_t at = frames_address;
  while (at < end) {
    const FrameRecord record = read_frame_record(*image_, at);
    if (record.covers) {
      ranges_.push_back(*record.covers);
    }
    if (record.next <= at) {
      break;
    }
    at = record.next;
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; });
}

std::optional<CodeRange> FdeBounds::find(std::uint64_t address) const {
  std::optional<CodeRange> range;
  if (table_) {
    range = find_in(*table_, address);
  } else {
    const auto behind =
        std::upper_bound(ranges_.begin(), ranges_.end(), address,
                         [](std::uint64_t a, const CodeRange& other) { return a < other.begin; });
    if (behind != ranges_.begin()) {
      range = *std::prev(behind);
    }
  }
  return range && range->contains(address) ? range : std::nullopt;
}

}  // namespace sp::symbols
