#include "symbols/returning_twice.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "symbols/elf_sections.h"
#include "symbols/elf_symbols.h"
#include "symbols/plt_names.h"

namespace sp::symbols {
namespace {

/// As glibc, musl and the C standard name them; a file may name a version behind them.
bool returns_twice(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"setjmp", "_setjmp", "sigsetjmp",
                                                      "__sigsetjmp", "getcontext"};
  name = name.substr(0, name.find('@'));
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::vector<std::uint64_t> find_returning_twice(
    const std::shared_ptr<const core::ElfImage>& image) {
  const ElfSections own(image);
  std::vector<std::uint64_t> found;
  bool are_imported = false;
  for_each_symbol(own, [&](std::string_view name, const Elf64_Sym& symbol) {
    if (!returns_twice(name)) {
      return;
    }
    if (symbol.st_shndx == SHN_UNDEF) {
      are_imported = true;
    } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
      found.push_back(symbol.st_value);
    }
  });
  if (are_imported) {
    const PltNames stubs(own);
    stubs.for_each([&](std::uint64_t begin, std::string_view name) {
      if (returns_twice(name)) {
        found.push_back(begin);
      }
    });
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace sp::symbols
