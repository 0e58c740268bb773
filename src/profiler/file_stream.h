#pragma once

#include <array>
#include <cstdint>
#include <streambuf>

namespace sp::profiler {

/// A stream buffer that writes to a descriptor, which it does not own, and keeps the errno of the
/// first error: an ostream only tells that there was one.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(int fd);
  FileBuffer(const FileBuffer&) = delete;
  FileBuffer& operator=(const FileBuffer&) = delete;
  ~FileBuffer() override = default;

  /// Flushes. Returns the errno of the first write that failed, or 0.
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
