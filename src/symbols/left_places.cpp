#include "symbols/left_places.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string_view>

#include "core/bytes.h"
#include "symbols/elf_sections.h"
#include "symbols/relocated_words.h"

namespace sp::symbols {
namespace {

constexpr std::uint64_t kWordSize = 8;

/// Appends the addresses of all sections of that name.
core::Result<void> read_addresses(const core::ElfImage& image, const ElfSections& sections,
                                  std::string_view name, std::vector<std::uint64_t>& into) {
  for (const Section& section : sections.all()) {
    if (section.name != name || section.type == SHT_NOBITS) {
      continue;
    }
    const auto bytes = sections.bytes(section);
    if (bytes.size() != section.size || section.size % kWordSize != 0) {
      return core::fail(fmt::format("{} is cut off: the file is damaged", name));
    }
    const RelocatedWords words(sections, section.address, section.address + section.size);
    for (std::uint64_t at = 0; at < bytes.size(); at += kWordSize) {
      const std::uint64_t stored = *core::read_at<std::uint64_t>(bytes, at);
      const std::uint64_t address = words.value(section.address + at, stored);
      if (address == 0) {
        continue;
      }
      if (!image.is_executable_at(address)) {
        return core::fail(fmt::format(
            "entry {} of {} in {} is {:#x}, outside of the executable segments: the file is "
            "damaged",
            at / kWordSize + 1, bytes.size() / kWordSize, name, address));
      }
      into.push_back(address);
    }
  }
  return {};
}

/// A direct call of `target` stands somewhere in the code.
bool has_call_of(const core::ElfImage& image, std::uint64_t target) {
  const bool is_arm = image.machine() == EM_AARCH64;
  const std::uint64_t step = is_arm ? 4 : 1;
  for (const core::LoadSegment& segment : image.segments()) {
    if (!segment.executable) {
      continue;
    }
    const auto code = core::cut(image.bytes(), segment.file_offset, segment.file_size);
    for (std::uint64_t at = 0; at + 5 <= code.size(); at += step) {
      const std::uint64_t distance = target - (segment.address + at);
      // bl, or call rel32, whose distance counts from its end.
      const bool is_call =
          is_arm ? *core::read_at<std::uint32_t>(code, at) ==
                       (0x9400'0000U | (static_cast<std::uint32_t>(distance >> 2U) & 0x03FF'FFFFU))
                 : code[at] == std::byte{0xE8} && *core::read_at<std::uint32_t>(code, at + 1) ==
                                                      static_cast<std::uint32_t>(distance - 5);
      if (is_call) {
        return true;
      }
    }
  }
  return false;
}

/// The member that says that a symbol of that name is called; nullptr for other names.
bool LeftPlaces::*called_by_name(std::string_view name) {
  name = name.substr(0, name.find('@'));  // without a version
  if (name == "mcount" || name == "_mcount") {
    return &LeftPlaces::calls_mcount;
  }
  if (name == "__fentry__") {
    return &LeftPlaces::calls_fentry;
  }
  return name == "__cyg_profile_func_enter" ? &LeftPlaces::calls_cyg : nullptr;
}

bool is_relocated(const ElfSections& sections, const Section& table, std::uint64_t symbol) {
  for (const Section& section : sections.all()) {
    if (section.type != SHT_RELA || sections.at(section.link) != &table) {
      continue;
    }
    const auto bytes = sections.bytes(section);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
      if (ELF64_R_SYM(core::read_at<Elf64_Rela>(bytes, at)->r_info) == symbol) {
        return true;
      }
    }
  }
  return false;
}

/// A file that does not define a hook calls it. One that does, a static program or one with hooks
/// of its own, may only offer it, as libc does.
void read_calls(const core::ElfImage& image, const ElfSections& sections, const Section& table,
                LeftPlaces& places) {
  const Section* const strings = sections.at(table.link);
  if (strings == nullptr) {
    return;
  }
  const auto names = sections.bytes(*strings);
  const auto bytes = sections.bytes(table);
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = *core::read_at<Elf64_Sym>(bytes, at);
    bool LeftPlaces::*const member = called_by_name(core::text_at(names, symbol.st_name));
    if (member != nullptr && !(places.*member)) {
      places.*member = symbol.st_shndx == SHN_UNDEF ||
                       is_relocated(sections, table, at / sizeof(Elf64_Sym)) ||
                       has_call_of(image, symbol.st_value);
    }
  }
}

}  // namespace

core::Result<LeftPlaces> find_left_places(const std::shared_ptr<const core::ElfImage>& image) {
  const ElfSections sections(image);
  LeftPlaces places;
  const Section* const map = sections.find("xray_instr_map");
  places.has_xray = map != nullptr && map->type != SHT_NOBITS && map->size != 0;
  auto read = read_addresses(*image, sections, "__patchable_function_entries", places.patchable);
  if (read) {
    read = read_addresses(*image, sections, "__mcount_loc", places.recorded_calls);
  }
  if (!read) {
    return tl::unexpected(read.error());
  }
  for (const Section& section : sections.all()) {
    if (section.type == SHT_DYNSYM || section.type == SHT_SYMTAB) {
      read_calls(*image, sections, section, places);
    }
  }
  return places;
}

std::string describe(const LeftPlaces& places) {
  std::vector<std::string> kinds;
  if (const std::size_t entries = places.patchable.size(); entries > 0) {
    kinds.push_back(fmt::format("{} patchable function entr{} (-fpatchable-function-entry)",
                                entries, entries == 1 ? "y" : "ies"));
  }
  if (places.calls_mcount) {
    kinds.emplace_back("calls of mcount (-pg)");
  }
  if (places.calls_fentry) {
    kinds.emplace_back("calls of __fentry__ (-mfentry)");
  }
  if (const std::size_t calls = places.recorded_calls.size(); calls > 0) {
    kinds.push_back(
        fmt::format("{} place{} in __mcount_loc (-mrecord-mcount)", calls, calls == 1 ? "" : "s"));
  }
  if (places.calls_cyg) {
    kinds.emplace_back("calls of __cyg_profile_func_enter (-finstrument-functions)");
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace sp::symbols
