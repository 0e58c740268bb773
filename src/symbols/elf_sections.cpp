#include "symbols/elf_sections.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/bytes.h"

namespace sp::symbols {

ElfSections::ElfSections(std::shared_ptr<const core::MappedFile> file) {
  if (file != nullptr) {
    file_ = file->bytes();
    owner_ = std::move(file);
    read();
  }
}

ElfSections::ElfSections(std::shared_ptr<const core::ElfImage> image) {
  if (image != nullptr) {
    file_ = image->bytes();
    owner_ = std::move(image);
    read();
  }
}

void ElfSections::read() {
  const auto header = core::read_at<Elf64_Ehdr>(file_, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff == 0) {
    return;
  }
  machine_ = header->e_machine;
  const auto table = core::cut(file_, header->e_shoff, file_.size());
  const auto first = core::read_at<Elf64_Shdr>(table, 0);
  if (!first) {
    table_ = Table::cut_off;
    return;
  }
  // elf(5): section 0 holds counts that do not fit the header.
  const std::uint64_t stated = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  const std::uint64_t count = std::min<std::uint64_t>(stated, table.size() / sizeof(Elf64_Shdr));
  table_ = count < stated ? Table::cut_off : Table::whole;
  const std::uint64_t names_index =
      header->e_shstrndx == SHN_XINDEX ? first->sh_link : header->e_shstrndx;
  const auto names_header = names_index < count
                                ? core::read_at<Elf64_Shdr>(table, names_index * sizeof(Elf64_Shdr))
                                : std::nullopt;
  const auto names = names_header ? core::cut(file_, names_header->sh_offset, names_header->sh_size)
                                  : std::span<const std::byte>{};
  sections_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto raw = *core::read_at<Elf64_Shdr>(table, i * sizeof(Elf64_Shdr));
    sections_.push_back({core::text_at(names, raw.sh_name), raw.sh_type, raw.sh_flags, raw.sh_addr,
                         raw.sh_offset, raw.sh_size, raw.sh_link, raw.sh_addralign,
                         raw.sh_entsize});
  }
}

const Section* ElfSections::find(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [name](const Section& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

bool ElfSections::has_symbol_table() const {
  const Section* const table = find(".symtab");
  return table != nullptr && !bytes(*table).empty();
}

const Section* ElfSections::at(std::uint64_t index) const {
  return index < sections_.size() ? &sections_[index] : nullptr;
}

std::span<const std::byte> ElfSections::bytes(const Section& section) const {
  if (section.type == SHT_NOBITS || section.type == SHT_NULL) {
    return {};
  }
  return core::cut(file_, section.offset, section.size);
}

std::string ElfSections::build_id() const {
  for (const Section& section : sections_) {
    if (section.type == SHT_NOTE) {
      std::string id = core::build_id_of_notes(bytes(section), section.alignment);
      if (!id.empty()) {
        return id;
      }
    }
  }
  return "";
}

bool ElfSections::has_dwarf() const {
  const auto has = [this](std::string_view name) {
    const Section* section = find(name);
    return section != nullptr && !bytes(*section).empty();
  };
  return has(".debug_info") || has(".zdebug_info");
}

}  // namespace sp::symbols
