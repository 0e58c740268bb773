#pragma once

#include <cstdint>
#include <string>

#include "core/fd.h"
#include "profiler/recording/container_writer.h"

namespace sp::profiler {

/// A file that is written while the run goes on. It never ends in the middle of what one call
/// appends: if that does not fit, the file stays as it was.
class GrowingFile final : public ByteSink {
 public:
  /// `fd` is that of an empty file.
  GrowingFile(core::UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  [[nodiscard]] core::Result<void> append(std::span<const std::byte> bytes) override;
  [[nodiscard]] core::Result<void> replace(std::uint64_t offset,
                                           std::span<const std::byte> bytes) override;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// False once it was removed.
  [[nodiscard]] bool has_name() const;

 private:
  [[nodiscard]] core::Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  core::UniqueFd fd_;
  std::string path_;
  std::uint64_t size_ = 0;
};

}  // namespace sp::profiler
