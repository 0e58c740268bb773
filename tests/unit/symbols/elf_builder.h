#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/elf_image.h"
#include "core/mapped_file.h"

namespace sp::test {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

inline Bytes bytes_of(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

template <typename T>
void append(Bytes& bytes, const T& value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

/// Writes small ELF files: sections with their symbols, one PT_LOAD for each allocated section.
class ElfBuilder {
 public:
  explicit ElfBuilder(std::uint16_t machine = EM_X86_64) : machine_(machine) {
    sections_.push_back({});
  }

  struct Section {
    std::string name;
    std::uint32_t type = SHT_NULL;
    std::uint64_t flags = 0;
    std::uint64_t address = 0;
    Bytes bytes;
    std::uint64_t memory_size = 0;  // 0: as many as bytes
    std::uint32_t link = 0;
    std::uint64_t entry_size = 0;
  };

  std::uint16_t add(Section section) {
    sections_.push_back(std::move(section));
    return static_cast<std::uint16_t>(sections_.size() - 1);
  }
  std::uint16_t add_code(std::string name, std::uint64_t address, Bytes bytes) {
    return add(
        {std::move(name), SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, address, std::move(bytes)});
  }
  std::uint16_t add_code(std::string name, std::uint64_t address, std::size_t size) {
    return add_code(std::move(name), address, Bytes(size, std::byte{0x90}));
  }

  struct Symbol {
    std::string name;
    std::uint64_t value = 0;
    std::uint64_t size = 0;
    std::uint16_t section = 0;
    unsigned char type = STT_FUNC;
    unsigned char binding = STB_GLOBAL;
  };
  void add_symbol(Symbol symbol) { symbols_.push_back(std::move(symbol)); }

  void set_build_id(std::string_view id) {
    Bytes note;
    append(note, Elf64_Nhdr{4, static_cast<Elf64_Word>(id.size()), NT_GNU_BUILD_ID});
    for (const std::byte byte : bytes_of(std::string_view("GNU\0", 4))) {
      note.push_back(byte);
    }
    for (const std::byte byte : bytes_of(id)) {
      note.push_back(byte);
    }
    add({".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0x200, std::move(note)});
  }

  /// Adds .symtab (or .dynsym) and its names for the symbols so far.
  std::uint16_t flush_symbols(bool dynamic = false) {
    Bytes names = bytes_of(std::string_view("\0", 1));
    Bytes table;
    append(table, Elf64_Sym{});
    for (const Symbol& symbol : symbols_) {
      Elf64_Sym raw{};
      raw.st_name = static_cast<Elf64_Word>(names.size());
      raw.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
      raw.st_shndx = symbol.section;
      raw.st_value = symbol.value;
      raw.st_size = symbol.size;
      append(table, raw);
      for (const char letter : symbol.name) {
        names.push_back(static_cast<std::byte>(letter));
      }
      names.push_back(std::byte{0});
    }
    symbols_.clear();
    const auto strings = add({dynamic ? ".dynstr" : ".strtab", SHT_STRTAB, 0, 0, std::move(names)});
    return add({dynamic ? ".dynsym" : ".symtab",
                static_cast<std::uint32_t>(dynamic ? SHT_DYNSYM : SHT_SYMTAB), 0, 0,
                std::move(table), 0, strings, sizeof(Elf64_Sym)});
  }

  [[nodiscard]] Bytes build() {
    if (!symbols_.empty()) {
      flush_symbols();
    }
    Bytes names = bytes_of(std::string_view("\0", 1));
    std::vector<Elf64_Shdr> headers;
    std::vector<Elf64_Phdr> programs;
    Bytes content;
    const auto program_count = count_programs();
    const std::uint64_t content_at = sizeof(Elf64_Ehdr) + program_count * sizeof(Elf64_Phdr);
    add({".shstrtab", SHT_STRTAB, 0, 0, {}});
    for (Section& section : sections_) {
      Elf64_Shdr header{};
      header.sh_name = section.name.empty() ? 0 : static_cast<Elf64_Word>(names.size());
      for (const char letter : section.name) {
        names.push_back(static_cast<std::byte>(letter));
      }
      names.push_back(std::byte{0});
      if (section.name == ".shstrtab") {
        section.bytes = names;
      }
      while ((content_at + content.size()) % 8 != 0) {
        content.push_back(std::byte{0});
      }
      header.sh_type = section.type;
      header.sh_flags = section.flags;
      header.sh_addr = section.address;
      header.sh_offset = section.type == SHT_NULL ? 0 : content_at + content.size();
      header.sh_size = section.memory_size != 0 ? section.memory_size : section.bytes.size();
      header.sh_link = section.link;
      header.sh_addralign = section.type == SHT_NOTE ? 4 : 1;
      header.sh_entsize = section.entry_size;
      headers.push_back(header);
      add_programs(section, header, programs);
      content.insert(content.end(), section.bytes.begin(), section.bytes.end());
    }
    return assemble(headers, programs, content, content_at);
  }

  [[nodiscard]] std::shared_ptr<const core::MappedFile> build_file() {
    return core::MappedFile::copy(build());
  }
  /// Null if ElfImage rejects the file.
  [[nodiscard]] std::shared_ptr<const core::ElfImage> build_image() {
    return core::ElfImage::parse(build_file()).value_or(nullptr);
  }

 private:
  [[nodiscard]] std::size_t count_programs() const {
    std::size_t count = 0;
    for (const Section& section : sections_) {
      count += program_types(section).size();
    }
    return count;
  }

  static std::vector<std::uint32_t> program_types(const Section& section) {
    std::vector<std::uint32_t> types;
    if ((section.flags & SHF_ALLOC) != 0) {
      types.push_back(PT_LOAD);
    }
    if (section.type == SHT_NOTE) {
      types.push_back(PT_NOTE);
    }
    if (section.name == ".eh_frame_hdr") {
      types.push_back(PT_GNU_EH_FRAME);
    }
    return types;
  }

  static void add_programs(const Section& section, const Elf64_Shdr& header,
                           std::vector<Elf64_Phdr>& programs) {
    for (const std::uint32_t type : program_types(section)) {
      Elf64_Phdr program{};
      program.p_type = type;
      program.p_flags = PF_R | ((section.flags & SHF_EXECINSTR) != 0 ? PF_X : 0U);
      program.p_offset = header.sh_offset;
      program.p_vaddr = header.sh_addr;
      program.p_filesz = section.bytes.size();
      program.p_memsz = header.sh_size;
      program.p_align = header.sh_addralign;
      programs.push_back(program);
    }
  }

  [[nodiscard]] Bytes assemble(const std::vector<Elf64_Shdr>& headers,
                               const std::vector<Elf64_Phdr>& programs, const Bytes& content,
                               std::uint64_t content_at) const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_version = EV_CURRENT;
    header.e_machine = machine_;
    header.e_phoff = sizeof(Elf64_Ehdr);
    header.e_shoff = (content_at + content.size() + 7) / 8 * 8;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(programs.size());
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(headers.size());
    header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
    Bytes file;
    append(file, header);
    for (const Elf64_Phdr& program : programs) {
      append(file, program);
    }
    file.insert(file.end(), content.begin(), content.end());
    file.resize(header.e_shoff);
    for (const Elf64_Shdr& section : headers) {
      append(file, section);
    }
    return file;
  }

  std::uint16_t machine_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace sp::test
