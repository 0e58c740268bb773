#include "symbols/mini_debug_info.h"

#include <lzma.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>
#include <vector>

namespace sp::symbols {
namespace {

/// Releases the decoder.
struct Decoder {
  lzma_stream stream = LZMA_STREAM_INIT;

  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { lzma_end(&stream); }
};

}  // namespace

core::Result<std::shared_ptr<const core::MappedFile>> unpack_mini_debug_info(
    std::span<const std::byte> packed, std::size_t limit) {
  constexpr std::uint64_t kDecoderMemory = std::uint64_t{256} << 20U;
  Decoder decoder;
  if (lzma_stream_decoder(&decoder.stream, kDecoderMemory, 0) != LZMA_OK) {
    return core::fail("unpacking .gnu_debugdata", ENOMEM);
  }
  std::vector<std::byte> out(std::min(limit, packed.size() * 4 + 4096));
  decoder.stream.next_in =
      static_cast<const std::uint8_t*>(static_cast<const void*>(packed.data()));
  decoder.stream.avail_in = packed.size();
  std::size_t filled = 0;
  while (true) {
    decoder.stream.next_out = static_cast<std::uint8_t*>(static_cast<void*>(out.data() + filled));
    decoder.stream.avail_out = out.size() - filled;
    const lzma_ret answer = lzma_code(&decoder.stream, LZMA_FINISH);
    filled = out.size() - decoder.stream.avail_out;
    if (answer == LZMA_STREAM_END) {
      out.resize(filled);
      return core::MappedFile::copy(std::move(out));
    }
    if (answer != LZMA_OK || filled < out.size()) {
      return core::fail("unpacking .gnu_debugdata", EBADMSG);
    }
    if (out.size() >= limit) {
      return core::fail("unpacking .gnu_debugdata", EFBIG);
    }
    out.resize(std::min(limit, out.size() * 2));
  }
}

}  // namespace sp::symbols
