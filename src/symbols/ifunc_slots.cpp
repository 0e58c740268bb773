#include "symbols/ifunc_slots.h"

#include <elf.h>

#include <string>
#include <string_view>

#include "core/bytes.h"

namespace sp::symbols {
namespace {

bool is_irelative(std::uint16_t machine, std::uint64_t type) {
  return machine == EM_AARCH64 ? type == R_AARCH64_IRELATIVE : type == R_X86_64_IRELATIVE;
}

bool sets_address(std::uint16_t machine, std::uint64_t type) {
  if (machine == EM_AARCH64) {
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
  }
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

/// The name of a symbol of the table that a section of relocations is linked to.
std::string_view symbol_name(const ElfSections& file, const Section& relocations,
                             std::uint64_t number) {
  const Section* const table = file.at(relocations.link);
  const Section* const strings = table != nullptr ? file.at(table->link) : nullptr;
  if (strings == nullptr) {
    return {};
  }
  const auto symbol = core::read_at<Elf64_Sym>(file.bytes(*table), number * sizeof(Elf64_Sym));
  return symbol ? core::text_at(file.bytes(*strings), symbol->st_name) : std::string_view{};
}

}  // namespace

std::vector<core::IfuncSlot> find_function_slots(const ElfSections& file) {
  std::vector<core::IfuncSlot> slots;
  for (const Section& section : file.all()) {
    if (section.type != SHT_RELA) {
      continue;
    }
    const auto bytes = file.bytes(section);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
      const auto relocation = *core::read_at<Elf64_Rela>(bytes, at);
      const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
      if (is_irelative(file.machine(), type)) {
        slots.push_back(
            {relocation.r_offset, {static_cast<std::uint64_t>(relocation.r_addend), {}}});
      } else if (sets_address(file.machine(), type)) {
        const auto name = symbol_name(file, section, ELF64_R_SYM(relocation.r_info));
        if (!name.empty()) {
          slots.push_back({relocation.r_offset, {0, std::string(name)}});
        }
      }
    }
  }
  return slots;
}

}  // namespace sp::symbols
