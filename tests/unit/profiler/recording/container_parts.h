#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "profiler/recording/chunk_header.h"
#include "profiler/recording/compression.h"
#include "profiler/recording/container_writer.h"
#include "unit/profiler/recording/recorded_bytes.h"

namespace sp::profiler::test {

/// The chunks of a file, whose checksums can be made right again.
struct ContainerParts {
  std::string header;
  std::vector<std::pair<ChunkHeader, std::string>> chunks;  // not compressed
};

inline ContainerParts parts_of(const std::string& file) {
  ContainerParts parts{file.substr(0, kContainerHeaderSize), {}};
  Decompressor decompressor;
  for (std::size_t at = kContainerHeaderSize; at < file.size();) {
    ChunkHeaderBytes bytes{};
    std::copy_n(bytes_of(file).begin() + static_cast<std::ptrdiff_t>(at), bytes.size(),
                bytes.begin());
    const ChunkHeader header = decode(bytes);
    std::string payload = file.substr(at + kChunkHeaderSize, header.stored);
    if (header.compressed) {
      const auto whole = decompressor.decompress(bytes_of(payload), kMostInChunk);
      payload.assign(static_cast<const char*>(static_cast<const void*>(whole->data())),
                     whole->size());
    }
    parts.chunks.emplace_back(header, payload);
    at += kChunkHeaderSize + padded(header.stored);
  }
  return parts;
}

inline std::string joined(const ContainerParts& parts) {
  MemorySink sink;
  ContainerWriter writer(sink);
  sink.text = parts.header;
  for (const auto& [header, payload] : parts.chunks) {
    EXPECT_TRUE(writer.add(static_cast<ChunkKind>(header.kind), header.set, bytes_of(payload)));
  }
  return sink.text;
}

}  // namespace sp::profiler::test
