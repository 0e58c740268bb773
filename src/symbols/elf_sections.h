#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/elf_image.h"
#include "core/mapped_file.h"

namespace sp::symbols {

/// A section header of elf(5), with its name.
struct Section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_size = 0;
};

/// The sections of a 64-bit little-endian ELF file. Damaged ones read as empty; reads stay within
/// the file's bytes, which this keeps alive.
class ElfSections {
 public:
  explicit ElfSections(std::shared_ptr<const core::MappedFile> file);
  explicit ElfSections(std::shared_ptr<const core::ElfImage> image);

  /// The table of section headers, without which nobody knows which sections there are.
  enum class Table : std::uint8_t { whole, missing, cut_off };
  [[nodiscard]] Table table() const { return table_; }

  [[nodiscard]] const std::vector<Section>& all() const { return sections_; }
  /// The first section of that name; nullptr if there is none.
  [[nodiscard]] const Section* find(std::string_view name) const;
  /// Whether the file itself has symbols, not only a name for their section.
  [[nodiscard]] bool has_symbol_table() const;
  /// The section at a header index; nullptr if there is none.
  [[nodiscard]] const Section* at(std::uint64_t index) const;
  /// Empty for sections without bytes in this file (SHT_NOBITS).
  [[nodiscard]] std::span<const std::byte> bytes(const Section& section) const;
  /// Bytes of the whole file.
  [[nodiscard]] std::span<const std::byte> file_bytes() const { return file_; }
  [[nodiscard]] std::uint16_t machine() const { return machine_; }
  /// From the note sections (in a separate debug file the program headers give wrong offsets);
  /// lower-case hex, "" if there is none.
  [[nodiscard]] std::string build_id() const;
  /// True if the file itself contains DWARF, compressed or not.
  [[nodiscard]] bool has_dwarf() const;

 private:
  void read();

  std::shared_ptr<const void> owner_;
  std::span<const std::byte> file_;
  std::uint16_t machine_ = 0;
  Table table_ = Table::missing;
  std::vector<Section> sections_;
};

}  // namespace sp::symbols
