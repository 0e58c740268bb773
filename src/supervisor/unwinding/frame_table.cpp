#include "supervisor/unwinding/frame_table.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "core/bytes.h"
#include "supervisor/unwinding/dwarf_reader.h"

namespace sp::supervisor {
namespace {

using core::read_at;

/// The header of a CIE or FDE; `body` begins at the word that tells them apart.
struct Entry {
  std::uint64_t position = 0;  // of the header, in the section
  std::uint64_t body = 0;
  std::uint64_t end = 0;
  bool wide = false;  // the 64-bit DWARF format
  std::uint64_t id = 0;
};

std::optional<Entry> read_prologue(std::span<const std::byte> section, std::uint64_t position) {
  const auto length = read_at<std::uint32_t>(section, position);
  if (!length || *length == 0) {
    return std::nullopt;  // the end mark of .eh_frame
  }
  Entry entry{position, position + 4, 0, false, 0};
  std::uint64_t size = *length;
  if (*length == 0xffffffff) {
    const auto wide_length = read_at<std::uint64_t>(section, position + 4);
    if (!wide_length) {
      return std::nullopt;
    }
    entry.wide = true;
    entry.body = position + 12;
    size = *wide_length;
  }
  if (size > section.size() - entry.body) {
    return std::nullopt;
  }
  entry.end = entry.body + size;
  if (entry.wide) {
    const auto id = read_at<std::uint64_t>(section.first(entry.end), entry.body);
    entry.id = id.value_or(0);
    return id ? std::optional(entry) : std::nullopt;
  }
  const auto id = read_at<std::uint32_t>(section.first(entry.end), entry.body);
  entry.id = id.value_or(0);
  return id ? std::optional(entry) : std::nullopt;
}

bool is_cie(const Entry& entry, bool is_debug_frame) {
  if (!is_debug_frame) {
    return entry.id == 0;
  }
  return entry.id == (entry.wide ? ~std::uint64_t{0} : 0xffffffffU);
}

}  // namespace

struct FrameTable::Cie {
  Fde defaults;  // what its FDEs have in common
  bool sized_augmentation = false;
};

FrameTable::FrameTable(std::shared_ptr<const core::ElfImage> image) : image_(std::move(image)) {
  eh_frame_.is_debug_frame = false;
  debug_frame_.is_debug_frame = true;
  read_header();
}

void FrameTable::read_header() {
  const auto piece = image_->eh_frame_header();
  if (!piece) {
    return;
  }
  const auto bytes = image_->bytes_at(piece->address);
  DwarfReader header(bytes.first(std::min<std::uint64_t>(bytes.size(), piece->size)),
                     piece->address);
  const auto version = header.take<std::uint8_t>();
  const auto frame_encoding = header.take<std::uint8_t>();
  const auto count_encoding = header.take<std::uint8_t>();
  const auto table_encoding = header.take<std::uint8_t>();
  if (!header.ok() || version != 1) {
    return;
  }
  header_address_ = piece->address;
  if (const auto frame = header.take_pointer(frame_encoding, piece->address)) {
    eh_frame_.address = *frame;
    eh_frame_.bytes = image_->bytes_at(*frame);
  }
  const auto count = header.take_pointer(count_encoding, piece->address);
  constexpr std::uint8_t kSearchable = kPointerDataRelative | kPointerSigned4;
  if (!header.ok() || !count || table_encoding != kSearchable) {
    return;
  }
  const std::uint64_t held = std::min<std::uint64_t>(*count, header.rest().size() / 8);
  sorted_ = header.rest().first(held * 8);
}

void FrameTable::find_sections() {
  const auto bytes = image_->bytes();
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || header->e_shoff == 0 || header->e_shentsize != sizeof(Elf64_Shdr)) {
    return;
  }
  const auto section_at = [&](std::uint64_t index) {
    return read_at<Elf64_Shdr>(bytes, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  const auto names = section_at(header->e_shstrndx);
  for (std::uint64_t i = 0; names && i < header->e_shnum; ++i) {
    const auto section = section_at(i);
    if (!section || section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED) != 0 ||
        section->sh_offset > bytes.size() || section->sh_size > bytes.size() - section->sh_offset ||
        names->sh_offset + section->sh_name >= bytes.size()) {
      continue;
    }
    DwarfReader text(bytes.subspan(names->sh_offset + section->sh_name), 0);
    const std::string_view name = text.take_string();
    const auto content = bytes.subspan(section->sh_offset, section->sh_size);
    if (name == ".eh_frame" && eh_frame_.bytes.empty()) {
      eh_frame_.bytes = content;
      eh_frame_.address = section->sh_addr;
    } else if (name == ".debug_frame") {
      debug_frame_.bytes = content;
    }
  }
}

void FrameTable::build_index() {
  if (indexed_) {
    return;
  }
  indexed_ = true;
  find_sections();
  if (sorted_.empty()) {
    index_section(eh_frame_);
  }
  index_section(debug_frame_);
  std::stable_sort(index_.begin(), index_.end(),
                   [](const IndexEntry& a, const IndexEntry& b) { return a.begin < b.begin; });
}

void FrameTable::index_section(const Section& section) {
  std::uint64_t position = 0;
  while (const auto entry = read_prologue(section.bytes, position)) {
    if (!is_cie(*entry, section.is_debug_frame)) {
      const auto found = read_fde(section, position);
      // Linkers leave FDEs of code that they discarded, at address 0.
      if (found && found->begin != 0) {
        index_.push_back({found->begin, found->end, position, section.is_debug_frame});
      }
    }
    position = entry->end;
  }
}

std::optional<Fde> FrameTable::find(std::uint64_t address) {
  if (auto found = find_by_header(address)) {
    return found;
  }
  return find_by_index(address);
}

std::optional<Fde> FrameTable::find_by_header(std::uint64_t address) {
  const auto field = [&](std::size_t index, std::size_t at) {
    std::int32_t offset = 0;
    std::memcpy(&offset, sorted_.data() + index * 8 + at, sizeof(offset));
    return header_address_ + static_cast<std::uint64_t>(std::int64_t{offset});
  };
  std::size_t low = 0;
  std::size_t high = sorted_.size() / 8;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (address < field(middle, 0)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (high == 0) {
    return std::nullopt;
  }
  const std::uint64_t entry = field(high - 1, 4);
  std::optional<Fde> found;
  if (entry >= eh_frame_.address && entry - eh_frame_.address < eh_frame_.bytes.size()) {
    found = read_fde(eh_frame_, entry - eh_frame_.address);
  }
  return found && address >= found->begin && address < found->end ? found : std::nullopt;
}

std::optional<Fde> FrameTable::find_by_index(std::uint64_t address) {
  build_index();
  const auto behind =
      std::upper_bound(index_.begin(), index_.end(), address,
                       [](std::uint64_t a, const IndexEntry& entry) { return a < entry.begin; });
  if (behind == index_.begin() || address >= (behind - 1)->end) {
    return std::nullopt;
  }
  const IndexEntry& entry = *(behind - 1);
  return read_fde(entry.in_debug_frame ? debug_frame_ : eh_frame_, entry.position);
}

std::optional<Fde> FrameTable::read_fde(const Section& section, std::uint64_t position) {
  const auto entry = read_prologue(section.bytes, position);
  if (!entry || is_cie(*entry, section.is_debug_frame)) {
    return std::nullopt;
  }
  const std::uint64_t cie_at = section.is_debug_frame ? entry->id : entry->body - entry->id;
  auto cie = read_cie(section, cie_at);
  if (!cie) {
    return std::nullopt;
  }
  Fde& out = cie->defaults;
  const std::uint64_t start = entry->body + (entry->wide ? 8U : 4U);
  DwarfReader bytes(section.bytes.subspan(start, entry->end - start), section.address + start);
  const auto begin = bytes.take_pointer(out.pointer_encoding, 0);
  const auto size = bytes.take_pointer(out.pointer_encoding & 0x0fU, 0);
  if (cie->sized_augmentation) {
    bytes.skip(bytes.take_uleb());
  }
  if (!bytes.ok() || !begin || !size) {
    return std::nullopt;
  }
  out.begin = *begin;
  out.end = *begin + *size;
  out.program = bytes.rest();
  out.program_address = bytes.address();
  return out;
}

std::optional<FrameTable::Cie> FrameTable::read_cie(const Section& section,
                                                    std::uint64_t position) {
  const auto entry = read_prologue(section.bytes, position);
  if (!entry || !is_cie(*entry, section.is_debug_frame)) {
    return std::nullopt;
  }
  const std::uint64_t start = entry->body + (entry->wide ? 8U : 4U);
  DwarfReader bytes(section.bytes.subspan(start, entry->end - start), section.address + start);
  Cie cie;
  Fde& out = cie.defaults;
  const auto version = bytes.take<std::uint8_t>();
  std::string_view augmentation = bytes.take_string();
  if (version == 4) {
    bytes.skip(2);  // address size, segment selector size
  }
  out.code_alignment = bytes.take_uleb();
  out.data_alignment = bytes.take_sleb();
  out.return_address_register = version == 1 ? bytes.take<std::uint8_t>() : bytes.take_uleb();
  if (augmentation.starts_with('z')) {
    cie.sized_augmentation = true;
    const std::uint64_t size = bytes.take_uleb();
    const auto held = bytes.rest();
    DwarfReader details(held.first(std::min<std::uint64_t>(size, held.size())), bytes.address());
    bytes.skip(size);
    for (const char letter : augmentation.substr(1)) {
      if (letter == 'R') {
        out.pointer_encoding = details.take<std::uint8_t>();
      } else if (letter == 'L') {
        details.skip(1);
      } else if (letter == 'P') {
        const auto encoding = details.take<std::uint8_t>();
        (void)details.take_pointer(encoding, 0);
      } else if (letter == 'S') {
        out.signal_frame = true;
      } else if (letter != 'B') {  // B: return addresses are signed with the other key
        break;
      }
    }
  } else if (!augmentation.empty()) {
    return std::nullopt;
  }
  out.cie_program = bytes.rest();
  return bytes.ok() ? std::optional(cie) : std::nullopt;
}

}  // namespace sp::supervisor
