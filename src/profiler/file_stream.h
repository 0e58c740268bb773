#pragma once

#include <array>
#include <cstdint>
#include <streambuf>

namespace sp::profiler {

/// A buffer of an ostream that writes to a descriptor, which stays the caller's, and remembers the
/// first error: an ostream by itself only says that there was one.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(int fd);
  FileBuffer(const FileBuffer&) = delete;
  FileBuffer& operator=(const FileBuffer&) = delete;
  ~FileBuffer() override = default;

  /// Writes what is buffered. The errno of the first write that failed, 0 where none did.
  [[nodiscard]] int finish();
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;

 private:
  bool flush_buffer();

  const int fd_;
  int error_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::array<char, std::size_t{1} << 16U> buffer_{};
};

}  // namespace sp::profiler
