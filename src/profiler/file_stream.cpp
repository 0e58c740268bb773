#include "profiler/file_stream.h"

#include <unistd.h>

#include <cerrno>

namespace sp::profiler {

FileBuffer::FileBuffer(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

int FileBuffer::finish() {
  flush_buffer();
  return error_;
}

FileBuffer::int_type FileBuffer::overflow(int_type c) {
  if (!flush_buffer()) {
    return traits_type::eof();
  }
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    sputc(traits_type::to_char_type(c));
  }
  return traits_type::not_eof(c);
}

int FileBuffer::sync() { return flush_buffer() ? 0 : -1; }

bool FileBuffer::flush_buffer() {
  const char* from = pbase();
  while (error_ == 0 && from < pptr()) {
    const ssize_t written = ::write(fd_, from, static_cast<std::size_t>(pptr() - from));
    if (written >= 0) {
      from += written;
      bytes_written_ += static_cast<std::uint64_t>(written);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return error_ == 0;
}

}  // namespace sp::profiler
