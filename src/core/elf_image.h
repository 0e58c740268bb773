#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/mapped_file.h"
#include "core/result.h"

namespace sp::core {

/// One PT_LOAD of an ELF file.
struct LoadSegment {
  std::uint64_t file_offset = 0;
  std::uint64_t address = 0;  // p_vaddr
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  bool executable = false;
  bool writable = false;
};

/// The build-id among the notes of a PT_NOTE segment or SHT_NOTE section whose alignment is
/// `alignment`, in lower-case hex; "" if there is none.
[[nodiscard]] std::string build_id_of_notes(std::span<const std::byte> notes,
                                            std::uint64_t alignment);

/// The ELF headers that the stages need: where the file's bytes are mapped, its build-id and its
/// unwind table. Immutable and safe to share between threads. Reads stay within the file's bytes,
/// however damaged the file is.
class ElfImage {
 public:
  /// Errors: not a 64-bit little-endian ELF file, or its program headers lie outside of it.
  [[nodiscard]] static Result<std::shared_ptr<const ElfImage>> parse(
      std::shared_ptr<const MappedFile> file);

  [[nodiscard]] std::span<const std::byte> bytes() const { return file_->bytes(); }
  [[nodiscard]] const std::vector<LoadSegment>& segments() const { return segments_; }
  /// e_machine of elf(5): EM_X86_64, EM_AARCH64.
  [[nodiscard]] std::uint16_t machine() const { return machine_; }
  /// The ELF virtual address where the program (or the loader) begins.
  [[nodiscard]] std::uint64_t entry() const { return entry_; }
  /// Lower-case hex; "" if the file has none.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  /// The build-id, which no other build should have; of a file without one a hash of its bytes,
  /// which takes time.
  [[nodiscard]] const std::string& identity() const;
  /// PT_GNU_EH_FRAME as ELF virtual address and size.
  struct Piece {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
  };
  [[nodiscard]] std::optional<Piece> eh_frame_header() const { return eh_frame_header_; }

  /// The ELF virtual address of a byte of the file that a PT_LOAD maps.
  [[nodiscard]] std::optional<std::uint64_t> address_of_file_offset(std::uint64_t offset) const;
  /// The file's bytes from an ELF virtual address to the end of its segment's file part; empty
  /// where no PT_LOAD has bytes there.
  [[nodiscard]] std::span<const std::byte> bytes_at(std::uint64_t address) const;
  [[nodiscard]] bool is_executable_at(std::uint64_t address) const;
  /// What is there does not change once the module is relocated: in a segment that is not writable,
  /// or in PT_GNU_RELRO.
  [[nodiscard]] bool is_constant_at(std::uint64_t address) const;

 private:
  ElfImage() = default;

  std::shared_ptr<const MappedFile> file_;
  std::vector<LoadSegment> segments_;
  std::uint16_t machine_ = 0;
  std::uint64_t entry_ = 0;
  std::string build_id_;
  std::optional<Piece> eh_frame_header_;
  std::optional<Piece> relro_;
  mutable std::once_flag identified_;
  mutable std::string identity_;  // of a file without a build-id
};

}  // namespace sp::core
