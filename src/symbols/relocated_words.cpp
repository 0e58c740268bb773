#include "symbols/relocated_words.h"

#include <elf.h>

#include <optional>
#include <span>

#include "core/bytes.h"

namespace sp::symbols {
namespace {

bool is_relative_relocation(std::uint16_t machine, std::uint64_t type) {
  return machine == EM_X86_64 ? type == R_X86_64_RELATIVE : type == R_AARCH64_RELATIVE;
}

/// Symbol plus addend, 64 bits.
bool is_symbolic_relocation(std::uint16_t machine, std::uint64_t type) {
  return machine == EM_X86_64 ? type == R_X86_64_64 : type == R_AARCH64_ABS64;
}

}  // namespace

RelocatedWords::RelocatedWords(const ElfSections& sections, std::uint64_t begin,
                               std::uint64_t end) {
  for (const Section& section : sections.all()) {
    // Those without SHF_ALLOC are the linker's (--emit-relocs), not the loader's. Words that
    // .relr.dyn names (SHT_RELR) need nothing: the file holds their values.
    if (section.type == SHT_RELA && (section.flags & SHF_ALLOC) != 0) {
      read(sections, section, begin, end);
    }
  }
}

void RelocatedWords::read(const ElfSections& sections, const Section& relocations,
                          std::uint64_t begin, std::uint64_t end) {
  const Section* const symbols = sections.at(relocations.link);
  const auto symbol_bytes =
      symbols != nullptr ? sections.bytes(*symbols) : std::span<const std::byte>{};
  const auto bytes = sections.bytes(relocations);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
    const auto raw = *core::read_at<Elf64_Rela>(bytes, at);
    if (raw.r_offset < begin || raw.r_offset >= end) {
      continue;
    }
    const std::uint64_t type = ELF64_R_TYPE(raw.r_info);
    const auto addend = static_cast<std::uint64_t>(raw.r_addend);
    if (is_relative_relocation(sections.machine(), type)) {
      values_.insert_or_assign(raw.r_offset, addend);
    } else if (is_symbolic_relocation(sections.machine(), type)) {
      const std::uint64_t index = ELF64_R_SYM(raw.r_info);
      const auto symbol = core::read_at<Elf64_Sym>(symbol_bytes, index * sizeof(Elf64_Sym));
      if (symbol && symbol->st_shndx != SHN_UNDEF) {
        values_.insert_or_assign(raw.r_offset, symbol->st_value + addend);
      }
    }
  }
}

std::uint64_t RelocatedWords::value(std::uint64_t address, std::uint64_t stored) const {
  const auto found = values_.find(address);
  return found == values_.end() ? stored : found->second;
}

}  // namespace sp::symbols
