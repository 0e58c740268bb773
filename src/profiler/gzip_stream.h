#pragma once

#include <array>
#include <iosfwd>
#include <memory>
#include <streambuf>

namespace sp::profiler {

/// A stream buffer that compresses with gzip into another stream. finish() completes it.
class GzipBuffer final : public std::streambuf {
 public:
  explicit GzipBuffer(std::ostream& to);
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;
  ~GzipBuffer() override;

  /// Writes the rest and gzip's trailer; nothing may be written afterwards.
  void finish();

 protected:
  int_type overflow(int_type c) override;

 private:
  struct Deflate;
  void compress(int flush);

  std::ostream& to_;
  std::unique_ptr<Deflate> deflate_;
  std::array<char, std::size_t{1} << 16U> in_{};
  std::array<char, std::size_t{1} << 16U> out_{};
};

}  // namespace sp::profiler
