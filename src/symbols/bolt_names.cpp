#include "symbols/bolt_names.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/bytes.h"

namespace sp::symbols {
namespace {

struct Symbol {
  std::string_view name;
  std::string_view source;  // "" if unknown, and of global symbols
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  bool function = false;
  bool local = false;
  bool in_code = false;
};

/// The symbols that have an address in memory, by address; at one address functions come first.
std::vector<Symbol> symbols_in_memory(const ElfSections& file) {
  std::vector<Symbol> symbols;
  const Section* table = file.find(".symtab");
  const Section* strings = table != nullptr ? file.at(table->link) : nullptr;
  if (strings == nullptr) {
    return symbols;
  }
  const auto names = file.bytes(*strings);
  const auto bytes = file.bytes(*table);
  std::string_view source;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
    const auto raw = *core::read_at<Elf64_Sym>(bytes, at);
    const unsigned type = ELF64_ST_TYPE(raw.st_info);
    const std::string_view name = core::text_at(names, raw.st_name);
    if (type == STT_FILE) {
      // The linker's own name in files made by LTO, which not each link has.
      source = name == "ld-temp.o" ? source : name;
      continue;
    }
    const Section* section = raw.st_shndx < SHN_LORESERVE ? file.at(raw.st_shndx) : nullptr;
    if (section == nullptr || raw.st_shndx == SHN_UNDEF || (section->flags & SHF_ALLOC) == 0 ||
        raw.st_value == 0 || name.empty()) {
      continue;
    }
    const bool local = ELF64_ST_BIND(raw.st_info) == STB_LOCAL;
    symbols.push_back({name, local ? source : "", raw.st_value, raw.st_size,
                       type == STT_FUNC || type == STT_GNU_IFUNC, local,
                       (section->flags & SHF_EXECINSTR) != 0});
  }
  std::stable_sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.function && !b.function;
  });
  return symbols;
}

/// "name/1", "name/2", ..
class Numbered {
 public:
  std::string of(std::string name) {
    const std::size_t number = ++numbers_[name];
    return fmt::format("{}/{}", name, number);
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

}  // namespace

std::vector<BoltFunction> bolt_functions(const ElfSections& file) {
  std::vector<BoltFunction> functions;
  Numbered numbered;
  for (const Symbol& symbol : symbols_in_memory(file)) {
    std::string name(symbol.name);
    if (symbol.local) {
      name = numbered.of(name);
      if (symbol.function && !symbol.source.empty()) {
        name = numbered.of(fmt::format("{}/{}", symbol.name, symbol.source));
      }
    }
    if (!symbol.function || !symbol.in_code) {
      continue;
    }
    const std::uint64_t end = symbol.begin + std::max<std::uint64_t>(symbol.size, 1);
    if (!functions.empty() && symbol.begin == functions.back().begin) {
      BoltFunction& known = functions.back();
      known.end = std::max(known.end, end);
      if (known.local && !symbol.local) {
        known.name = std::move(name);
        known.local = false;
      }
    } else if (functions.empty() || symbol.begin >= functions.back().end) {
      functions.push_back({std::move(name), symbol.begin, end, symbol.local});
    }
  }
  return functions;
}

}  // namespace sp::symbols
