#include "profiler/gzip_stream.h"

#include <zlib.h>

#include <ostream>

#include "core/check.h"

namespace sp::profiler {

struct GzipBuffer::Deflate {
  z_stream stream{};
};

GzipBuffer::GzipBuffer(std::ostream& to) : to_(to), deflate_(std::make_unique<Deflate>()) {
  constexpr int kGzip = 16;  // added to the window's bits: a gzip header without a time
  // Fails only without memory and for wrong arguments.
  SP_CHECK(::deflateInit2(&deflate_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip,
                          MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK);
  setp(in_.data(), in_.data() + in_.size());
}

GzipBuffer::~GzipBuffer() { ::deflateEnd(&deflate_->stream); }

void GzipBuffer::finish() { compress(Z_FINISH); }

GzipBuffer::int_type GzipBuffer::overflow(int_type c) {
  compress(Z_NO_FLUSH);
  if (!traits_type::eq_int_type(c, traits_type::eof())) {
    sputc(traits_type::to_char_type(c));
  }
  return traits_type::not_eof(c);
}

void GzipBuffer::compress(int flush) {
  z_stream& stream = deflate_->stream;
  // zlib takes unsigned char; char may alias it.
  stream.next_in = reinterpret_cast<unsigned char*>(pbase());
  stream.avail_in = static_cast<unsigned>(pptr() - pbase());
  do {
    stream.next_out = reinterpret_cast<unsigned char*>(out_.data());
    stream.avail_out = static_cast<unsigned>(out_.size());
    ::deflate(&stream, flush);
    to_.write(out_.data(), static_cast<std::streamsize>(out_.size() - stream.avail_out));
  } while (stream.avail_out == 0);
  setp(in_.data(), in_.data() + in_.size());
}

}  // namespace sp::profiler
