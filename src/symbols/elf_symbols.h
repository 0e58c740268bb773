#pragma once

#include <elf.h>

#include <cstdint>
#include <string_view>

#include "core/bytes.h"
#include "symbols/elf_sections.h"

namespace sp::symbols {

/// Calls `use` with the name and the entry of each symbol of the file's .symtab and .dynsym.
template <typename Use>
void for_each_symbol(const ElfSections& file, Use use) {
  for (const Section& table : file.all()) {
    const Section* strings = file.at(table.link);
    if ((table.type != SHT_SYMTAB && table.type != SHT_DYNSYM) || strings == nullptr) {
      continue;
    }
    const auto names = file.bytes(*strings);
    const auto bytes = file.bytes(table);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = *core::read_at<Elf64_Sym>(bytes, at);
      use(core::text_at(names, symbol.st_name), symbol);
    }
  }
}

}  // namespace sp::symbols
