#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/elf_image.h"
#include "symbols/elf_sections.h"

namespace sp::symbols {

/// ELF virtual addresses, half open.
struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool contains(std::uint64_t address) const {
    return begin <= address && address < end;
  }
  bool operator==(const CodeRange&) const = default;
};

/// The bounds of functions by the unwind tables, which stripped files have too (LSB, "Exception
/// Frames" and ".eh_frame_hdr"). Searches the file's own sorted table; if that is missing, makes
/// one from .eh_frame on first use.
class FdeBounds {
 public:
  FdeBounds(std::shared_ptr<const core::ElfImage> image, const ElfSections& sections);

  /// The range of the FDE that holds `address`.
  [[nodiscard]] std::optional<CodeRange> find(std::uint64_t address) const;

 private:
  struct Table {  // .eh_frame_hdr's, sorted pairs of 32-bit offsets from `base`
    std::span<const std::byte> entries;
    std::uint64_t base = 0;
  };

  [[nodiscard]] std::optional<Table> header_table() const;
  [[nodiscard]] std::optional<CodeRange> find_in(const Table& table, std::uint64_t address) const;
  void read_all(std::span<const std::byte> frames, std::uint64_t frames_address);

  std::shared_ptr<const core::ElfImage> image_;
  std::optional<Table> table_;
  std::vector<CodeRange> ranges_;  // where there is no table; by begin
};

}  // namespace sp::symbols
