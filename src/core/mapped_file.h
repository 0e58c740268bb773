#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"

namespace sp::core {

/// The bytes of a file, or a copy of some memory (the vdso). Immutable, so it
/// may be shared between threads. The one risk is a file that is truncated under the mapping: map
/// installed files only, and use copy() for files that somebody may truncate.
class MappedFile {
 public:
  /// Maps the whole file read-only. Errors: those of open(2), fstat(2) and mmap(2); the file is
  /// empty or not a regular file.
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  /// The same for an open descriptor, which the caller keeps.
  [[nodiscard]] static Result<std::shared_ptr<const MappedFile>> map(int fd,
                                                                     const std::string& name);
  [[nodiscard]] static std::shared_ptr<const MappedFile> copy(std::vector<std::byte> bytes);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile() = default;

  std::span<const std::byte> bytes_;
  bool mapped_ = false;
  std::vector<std::byte> copy_;
};

}  // namespace sp::core
