#include "profiler/recording/container_writer.h"

#include "core/check.h"
#include "profiler/recording/chunk_header.h"
#include "profiler/recording/payload.h"

namespace sp::profiler {

core::Result<void> ContainerWriter::begin(const ContainerHeader& header) {
  return sink_.append(encode(header));
}

core::Result<void> ContainerWriter::add(ChunkKind kind, std::uint32_t set,
                                        std::span<const std::byte> payload) {
  SP_CHECK(payload.size() <= kMostInChunk);
  const std::span<const std::byte> compressed = compressor_.compress(payload);
  const std::span<const std::byte> stored = compressed.empty() ? payload : compressed;
  ChunkHeader header{.kind = static_cast<std::uint32_t>(kind),
                     .compressed = !compressed.empty(),
                     .stored = stored.size(),
                     .set = set};
  header.checksum = checksum_of(encode(header), stored);
  const ChunkHeaderBytes encoded = encode(header);
  chunk_.assign(encoded.begin(), encoded.end());
  chunk_.insert(chunk_.end(), stored.begin(), stored.end());
  chunk_.resize(kChunkHeaderSize + padded(stored.size()));
  return sink_.append(chunk_);
}

core::Result<void> ContainerWriter::finish() {
  if (auto added = add(ChunkKind::end, 0, {}); !added) {
    return added;
  }
  PayloadWriter flags;
  flags.u64(container_flags(true));
  return sink_.replace(kContainerFlagsOffset, flags.bytes());
}

}  // namespace sp::profiler
