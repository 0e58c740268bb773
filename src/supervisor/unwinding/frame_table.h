#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/elf_image.h"

namespace sp::supervisor {

/// An FDE with what it needs of its CIE: call frame information of one range of code. Addresses are
/// ELF virtual addresses; the programs are DWARF call frame instructions in the file's bytes.
struct Fde {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_address_register = 0;
  /// Its caller was interrupted, did not call: its pc there is no return address.
  bool signal_frame = false;
  std::uint8_t pointer_encoding = 0;  // of DW_CFA_set_loc
  std::span<const std::byte> cie_program;
  std::span<const std::byte> program;
  std::uint64_t program_address = 0;  // ELF address of the program's first byte
};

/// Finds the FDE of an address in an ELF file: by the table of .eh_frame_hdr if there is one, else
/// in an index of .eh_frame that is built when first needed; then in .debug_frame. Damaged tables
/// give nothing, never a crash. Not thread-safe.
class FrameTable {
 public:
  explicit FrameTable(std::shared_ptr<const core::ElfImage> image);

  [[nodiscard]] std::optional<Fde> find(std::uint64_t address);

 private:
  struct Section {
    std::span<const std::byte> bytes;
    std::uint64_t address = 0;
    bool is_debug_frame = false;  // pointers to CIEs count from the section's start
  };
  struct Cie;
  struct IndexEntry {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t position = 0;
    bool in_debug_frame = false;
  };

  void read_header();
  void find_sections();
  void build_index();
  void index_section(const Section& section);
  std::optional<Fde> find_by_header(std::uint64_t address);
  std::optional<Fde> find_by_index(std::uint64_t address);
  std::optional<Fde> read_fde(const Section& section, std::uint64_t position);
  std::optional<Cie> read_cie(const Section& section, std::uint64_t position);

  std::shared_ptr<const core::ElfImage> image_;
  std::uint64_t header_address_ = 0;
  std::span<const std::byte> sorted_;  // pairs of 32-bit offsets from the header, by address
  Section eh_frame_;
  Section debug_frame_;
  std::vector<IndexEntry> index_;
  bool indexed_ = false;
};

}  // namespace sp::supervisor
