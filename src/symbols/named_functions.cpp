#include "symbols/named_functions.h"

#include <elf.h>

#include <algorithm>
#include <tuple>

#include "core/bytes.h"
#include "symbols/go_functions.h"

namespace sp::symbols {
namespace {

void read_named(const ElfSections& file, const Section& table, std::vector<NamedFunction>& all) {
  const Section* const strings = file.at(table.link);
  if (strings == nullptr) {
    return;
  }
  const auto names = file.bytes(*strings);
  const auto bytes = file.bytes(table);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
    const auto raw = *core::read_at<Elf64_Sym>(bytes, at);
    const unsigned type = ELF64_ST_TYPE(raw.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || raw.st_shndx == SHN_UNDEF) {
      continue;
    }
    std::string_view name = core::text_at(names, raw.st_name);
    name = name.substr(0, name.find('@', 1));
    if (!name.empty()) {
      all.push_back({raw.st_value, name, type == STT_GNU_IFUNC});
    }
  }
}

}  // namespace

std::vector<NamedFunction> named_functions(const std::vector<ElfSections>& sources) {
  std::vector<NamedFunction> all;
  for (const ElfSections& source : sources) {
    for (const Section& section : source.all()) {
      if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM) {
        read_named(source, section, all);
      }
    }
    for (const GoFunction& function : go_functions(source)) {
      all.push_back({function.begin, function.name, false});
    }
  }
  const auto key = [](const NamedFunction& one) {
    return std::tie(one.begin, one.symbol, one.is_ifunc);
  };
  std::sort(all.begin(), all.end(),
            [&](const NamedFunction& a, const NamedFunction& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace sp::symbols
