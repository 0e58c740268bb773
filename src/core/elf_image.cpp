#include "core/elf_image.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string_view>

#include "core/bytes.h"

namespace sp::core {

// elf(5), "Notes (Nhdr)".
std::string build_id_of_notes(std::span<const std::byte> notes, std::uint64_t alignment) {
  constexpr std::uint64_t kLongestId = 64;  // linkers make 8, 16 or 20 bytes
  const std::uint64_t align = alignment == 8 ? 8 : 4;
  std::uint64_t at = 0;
  while (const auto note = read_at<Elf64_Nhdr>(notes, at)) {
    const std::uint64_t name = at + sizeof(Elf64_Nhdr);
    const std::uint64_t descriptor = (name + note->n_namesz + align - 1) / align * align;
    const auto owner = cut(notes, name, note->n_namesz);
    if (note->n_type == NT_GNU_BUILD_ID && owner.size() == 4 &&
        std::memcmp(owner.data(), "GNU", 4) == 0 && note->n_descsz <= kLongestId) {
      std::string hex;
      for (const std::byte byte : cut(notes, descriptor, note->n_descsz)) {
        hex += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
      }
      return hex;
    }
    at = (descriptor + note->n_descsz + align - 1) / align * align;
  }
  return "";
}

Result<std::shared_ptr<const ElfImage>> ElfImage::parse(std::shared_ptr<const MappedFile> file) {
  const auto bytes = file->bytes();
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return fail("not an ELF file", ENOEXEC);
  }
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      (header->e_phnum != 0 && header->e_phentsize != sizeof(Elf64_Phdr))) {
    return fail("not a 64-bit little-endian ELF file", ENOEXEC);
  }
  std::shared_ptr<ElfImage> image(new ElfImage);
  image->machine_ = header->e_machine;
  image->entry_ = header->e_entry;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto program = read_at<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!program) {
      return fail("an ELF file whose program headers are cut off", ENOEXEC);
    }
    if (program->p_type == PT_LOAD) {
      image->segments_.push_back({program->p_offset, program->p_vaddr, program->p_filesz,
                                  program->p_memsz, (program->p_flags & PF_X) != 0,
                                  (program->p_flags & PF_W) != 0});
    } else if (program->p_type == PT_GNU_RELRO) {
      image->relro_ = Piece{program->p_vaddr, program->p_memsz};
    } else if (program->p_type == PT_GNU_EH_FRAME) {
      image->eh_frame_header_ = Piece{program->p_vaddr, program->p_memsz};
    } else if (program->p_type == PT_NOTE && image->build_id_.empty()) {
      image->build_id_ =
          build_id_of_notes(cut(bytes, program->p_offset, program->p_filesz), program->p_align);
    }
  }
  image->file_ = std::move(file);
  return image;
}

const std::string& ElfImage::identity() const {
  if (!build_id_.empty()) {
    return build_id_;
  }
  std::call_once(identified_, [this] {
    const std::string_view whole(reinterpret_cast<const char*>(bytes().data()),  // NOLINT
                                 bytes().size());
    identity_ = fmt::format("#{}:{:x}", whole.size(), std::hash<std::string_view>{}(whole));
  });
  return identity_;
}

std::optional<std::uint64_t> ElfImage::address_of_file_offset(std::uint64_t offset) const {
  for (const LoadSegment& segment : segments_) {
    if (offset >= segment.file_offset && offset - segment.file_offset < segment.file_size) {
      return segment.address + (offset - segment.file_offset);
    }
  }
  return std::nullopt;
}

std::span<const std::byte> ElfImage::bytes_at(std::uint64_t address) const {
  for (const LoadSegment& segment : segments_) {
    if (address >= segment.address && address - segment.address < segment.file_size) {
      const std::uint64_t into = address - segment.address;
      return cut(bytes(), segment.file_offset + into, segment.file_size - into);
    }
  }
  return {};
}

bool ElfImage::is_constant_at(std::uint64_t address) const {
  if (relro_ && address >= relro_->address && address - relro_->address < relro_->size) {
    return true;
  }
  return std::any_of(segments_.begin(), segments_.end(), [address](const LoadSegment& segment) {
    return !segment.writable && address >= segment.address &&
           address - segment.address < segment.memory_size;
  });
}

bool ElfImage::is_executable_at(std::uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(), [address](const LoadSegment& segment) {
    return segment.executable && address >= segment.address &&
           address - segment.address < segment.memory_size;
  });
}

}  // namespace sp::core
