#include "symbols/plt_names.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "core/bytes.h"

namespace sp::symbols {
namespace {

enum class SlotKind { other, symbol, resolver };

SlotKind slot_kind(std::uint16_t machine, std::uint64_t type) {
  if (machine == EM_X86_64) {
    switch (type) {
      case R_X86_64_JUMP_SLOT:
      case R_X86_64_GLOB_DAT:
        return SlotKind::symbol;
      case R_X86_64_IRELATIVE:
        return SlotKind::resolver;
      default:
        return SlotKind::other;
    }
  }
  switch (type) {
    case R_AARCH64_JUMP_SLOT:
    case R_AARCH64_GLOB_DAT:
      return SlotKind::symbol;
    case R_AARCH64_IRELATIVE:
      return SlotKind::resolver;
    default:
      return SlotKind::other;
  }
}

}  // namespace

PltNames::PltNames(ElfSections sections) : sections_(std::move(sections)) {
  if (sections_.machine() != EM_X86_64 && sections_.machine() != EM_AARCH64) {
    return;
  }
  for (const Section& section : sections_.all()) {
    if (section.type == SHT_RELA) {
      read_slots(section);
    }
  }
  for (const Section& section : sections_.all()) {
    if (section.name == ".plt" || section.name.starts_with(".plt.") || section.name == ".iplt") {
      read_stubs(section);
    }
  }
  lazy_slots_ = {};
}

void PltNames::read_slots(const Section& relocations) {
  const Section* symbols = sections_.at(relocations.link);
  const Section* strings = symbols != nullptr ? sections_.at(symbols->link) : nullptr;
  const auto symbol_bytes =
      symbols != nullptr ? sections_.bytes(*symbols) : std::span<const std::byte>{};
  const auto names = strings != nullptr ? sections_.bytes(*strings) : std::span<const std::byte>{};
  const auto bytes = sections_.bytes(relocations);
  const bool is_lazy = relocations.name == ".rela.plt";
  for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes.size(); at += sizeof(Elf64_Rela)) {
    const auto raw = *core::read_at<Elf64_Rela>(bytes, at);
    if (is_lazy) {
      lazy_slots_.push_back(raw.r_offset);
    }
    const SlotKind kind = slot_kind(sections_.machine(), ELF64_R_TYPE(raw.r_info));
    if (kind == SlotKind::resolver) {
      slots_.emplace(raw.r_offset, Target{"", static_cast<std::uint64_t>(raw.r_addend)});
    } else if (kind == SlotKind::symbol) {
      const std::uint64_t index = ELF64_R_SYM(raw.r_info);
      const auto symbol = core::read_at<Elf64_Sym>(symbol_bytes, index * sizeof(Elf64_Sym));
      const std::string_view name = symbol ? core::text_at(names, symbol->st_name) : "";
      if (!name.empty()) {
        slots_.emplace(raw.r_offset, Target{name, 0});
      }
    }
  }
}

void PltNames::keep(const PltStub& stub) {
  if (slots_.contains(stub.slot)) {
    stubs_.emplace(stub.range.begin, stub);
  }
}

void PltNames::read_stubs(const Section& code) {
  const auto bytes = sections_.bytes(code);
  const auto stubs = sections_.machine() == EM_X86_64 ? find_x86_64_stubs(bytes, code.address)
                                                      : find_aarch64_stubs(bytes, code.address);
  for (const PltStub& stub : stubs) {
    keep(stub);
  }
  if (sections_.machine() != EM_X86_64 || code.name != ".plt" || !stubs.empty()) {
    return;
  }
  // With .plt.sec the stubs here only bind: [endbr64] push $index of .rela.plt; jmp to the first.
  constexpr std::uint64_t kStub = 16;
  for (std::uint64_t at = kStub; at + kStub <= bytes.size(); at += kStub) {
    const bool marked = core::read_at<std::uint32_t>(bytes, at) == 0xFA1E0FF3U;  // endbr64
    const std::uint64_t push = marked ? at + 4 : at;
    if (core::read_at<std::uint8_t>(bytes, push) != 0x68) {
      continue;
    }
    const auto index = core::read_at<std::uint32_t>(bytes, push + 1);
    if (index && *index < lazy_slots_.size()) {
      keep({{code.address + at, code.address + at + kStub}, lazy_slots_[*index]});
    }
  }
}

std::string_view PltNames::name_in_slot(std::uint64_t slot) const {
  const auto target = slots_.find(slot);
  return target == slots_.end() ? "" : target->second.name;
}

std::optional<PltNames::Hit> PltNames::find(std::uint64_t address) const {
  const auto behind = stubs_.upper_bound(address);
  if (behind == stubs_.begin()) {
    return std::nullopt;
  }
  const PltStub& stub = std::prev(behind)->second;
  const auto target = slots_.find(stub.slot);
  if (!stub.range.contains(address) || target == slots_.end()) {
    return std::nullopt;
  }
  return Hit{stub.range, std::string(target->second.name), target->second.resolver};
}

}  // namespace sp::symbols
