#include "symbols/symbol_table.h"

#include <elf.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/bytes.h"
#include "symbols/go_functions.h"

namespace sp::symbols {
namespace {

/// The number of underscores that mark a name as internal, without those of a mangling scheme's
/// prefix. glibc's "__GI_" (an alias for its own calls) counts as one more than the name behind it.
std::size_t leading_underscores(std::string_view name) {
  if (name.starts_with("_Z") || name.starts_with("_R")) {
    return 0;
  }
  constexpr std::string_view kOwnAlias = "__GI_";
  if (name.starts_with(kOwnAlias)) {
    return 1 + leading_underscores(name.substr(kOwnAlias.size()));
  }
  return std::min(name.find_first_not_of('_'), name.size());
}

std::uint8_t rank_of(unsigned type, unsigned binding) {
  const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  unsigned rank = is_function ? 0U : 4U;
  if (binding == STB_WEAK) {
    rank += 1;
  } else if (binding == STB_LOCAL) {
    rank += 2;
  }
  return static_cast<std::uint8_t>(rank);
}

/// "$x", "$d.17" of the AArch64 ELF ABI (mapping symbols) and assembler's ".L" labels.
bool is_label(std::string_view name) { return name.starts_with('$') || name.starts_with(".L"); }

std::uint64_t end_of(std::uint64_t begin, std::uint64_t size) {
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - begin;
  return begin + std::min(size, room);
}

}  // namespace

SymbolTable::SymbolTable(std::vector<ElfSections> sources) : sources_(std::move(sources)) {
  for (const ElfSections& source : sources_) {
    for (const Section& section : source.all()) {
      if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM) {
        read(source, section);
      }
    }
    for (const GoFunction& function : go_functions(source)) {
      add(function.name, function.begin, function.end, rank_of(STT_FUNC, STB_LOCAL), true);
    }
  }
  sort();
  lay_out();
}

void SymbolTable::read(const ElfSections& file, const Section& table) {
  const Section* strings = file.at(table.link);
  if (strings == nullptr) {
    return;
  }
  const auto names = file.bytes(*strings);
  const auto bytes = file.bytes(table);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
    const auto raw = *core::read_at<Elf64_Sym>(bytes, at);
    const unsigned type = ELF64_ST_TYPE(raw.st_info);
    const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
    if ((!is_function && type != STT_NOTYPE) || raw.st_shndx == SHN_UNDEF ||
        raw.st_shndx == SHN_ABS || raw.st_shndx == SHN_COMMON) {
      continue;
    }
    const Section* section = file.at(raw.st_shndx);
    const bool in_code = section != nullptr && (section->flags & SHF_EXECINSTR) != 0;
    if ((!is_function || raw.st_size == 0) && !in_code) {
      continue;  // a label of data, or a symbol that nothing bounds
    }
    const std::string_view name = core::text_at(names, raw.st_name);
    if (name.empty() || (!is_function && is_label(name)) ||
        name.size() > std::numeric_limits<std::uint32_t>::max()) {
      continue;
    }
    const bool sized = raw.st_size != 0;
    const std::uint64_t end =
        sized ? end_of(raw.st_value, raw.st_size) : end_of(section->address, section->size);
    if (end > raw.st_value) {
      add(name, raw.st_value, end, rank_of(type, ELF64_ST_BIND(raw.st_info)), sized);
    }
  }
}

void SymbolTable::add(std::string_view name, std::uint64_t begin, std::uint64_t end,
                      std::uint8_t rank, bool sized) {
  symbols_.push_back(
      {begin, end, name.data(), static_cast<std::uint32_t>(name.size()), rank, sized});
}

bool SymbolTable::better(const Symbol& a, const Symbol& b) {
  if (a.sized != b.sized) {
    return a.sized;
  }
  const bool a_function = a.rank < 4;
  const bool b_function = b.rank < 4;
  if (a_function != b_function) {
    return a_function;
  }
  const std::size_t a_underscores = leading_underscores(a.view());
  const std::size_t b_underscores = leading_underscores(b.view());
  if (a_underscores != b_underscores) {
    return a_underscores < b_underscores;
  }
  if (a.rank != b.rank) {
    return a.rank < b.rank;
  }
  if (a.name_size != b.name_size) {
    return a.name_size < b.name_size;
  }
  return a.view() < b.view();
}

void SymbolTable::sort() {
  std::sort(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) {
    return a.begin != b.begin ? a.begin < b.begin : better(a, b);
  });
  // Of aliases of the same bytes only the best one stays.
  const auto last = std::unique(
      symbols_.begin(), symbols_.end(),
      [](const Symbol& a, const Symbol& b) { return a.begin == b.begin && a.end == b.end; });
  symbols_.erase(last, symbols_.end());
  const std::size_t limit = std::numeric_limits<std::uint32_t>::max();
  symbols_.resize(std::min(symbols_.size(), limit));
  symbols_.shrink_to_fit();
}

// Sweeps over the addresses with a stack of the symbols that contain the current one, the innermost
// on top. Removes a symbol that has ended once it is on top.
void SymbolTable::lay_out() {
  std::vector<std::uint32_t> open;
  std::uint64_t cursor = 0;
  const auto advance_to = [&](std::uint64_t limit) {
    while (!open.empty() && cursor < limit) {
      const Symbol& top = symbols_[open.back()];
      if (top.end <= cursor) {
        open.pop_back();
        continue;
      }
      const std::uint64_t end = std::min(top.end, limit);
      stretches_.push_back({cursor, end, open.back()});
      cursor = end;
    }
    cursor = std::max(cursor, limit);
    while (!open.empty() && symbols_[open.back()].end <= cursor) {
      open.pop_back();
    }
  };
  std::size_t i = 0;
  while (i < symbols_.size()) {
    const std::uint64_t begin = symbols_[i].begin;
    std::size_t behind = i;
    while (behind < symbols_.size() && symbols_[behind].begin == begin) {
      ++behind;
    }
    advance_to(begin);
    if (symbols_[i].sized) {
      for (std::size_t k = behind; k-- > i;) {
        if (symbols_[k].sized) {
          open.push_back(static_cast<std::uint32_t>(k));
        }
      }
    } else if (open.empty()) {
      const std::uint64_t next = behind < symbols_.size() ? symbols_[behind].begin : UINT64_MAX;
      stretches_.push_back({begin, std::min(symbols_[i].end, next), static_cast<std::uint32_t>(i)});
    }
    i = behind;
  }
  advance_to(UINT64_MAX);
  stretches_.shrink_to_fit();
}

std::optional<SymbolHit> SymbolTable::find(std::uint64_t address) const {
  const auto behind =
      std::upper_bound(stretches_.begin(), stretches_.end(), address,
                       [](std::uint64_t a, const Stretch& stretch) { return a < stretch.end; });
  if (behind == stretches_.end() || address < behind->begin) {
    return std::nullopt;
  }
  const Symbol& symbol = symbols_[behind->symbol];
  return SymbolHit{symbol.view(), symbol.begin, symbol.sized ? symbol.end : behind->end,
                   symbol.sized};
}

std::string_view SymbolTable::starting_at(std::uint64_t address) const {
  const auto found =
      std::lower_bound(symbols_.begin(), symbols_.end(), address,
                       [](const Symbol& symbol, std::uint64_t a) { return symbol.begin < a; });
  return found != symbols_.end() && found->begin == address ? found->view() : std::string_view{};
}

std::optional<std::uint64_t> SymbolTable::address_of(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(),
                                  [&](const Symbol& symbol) { return symbol.view() == name; });
  return found == symbols_.end() ? std::nullopt : std::optional(found->begin);
}

}  // namespace sp::symbols
