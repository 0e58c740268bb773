#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/result.h"
#include "profiler/recording/compression.h"
#include "profiler/recording/container.h"

namespace sp::profiler {

/// Where a container goes.
class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  /// Appends all of `bytes` or, with an error, nothing.
  [[nodiscard]] virtual core::Result<void> append(std::span<const std::byte> bytes) = 0;
  /// Replaces bytes that were appended.
  [[nodiscard]] virtual core::Result<void> replace(std::uint64_t offset,
                                                   std::span<const std::byte> bytes) = 0;
};

/// Writes a container. After an error of add() the container is complete up to the chunk before,
/// and more may be added. `sink` must outlive it.
class ContainerWriter {
 public:
  explicit ContainerWriter(ByteSink& sink) : sink_(sink) {}

  [[nodiscard]] core::Result<void> begin(const ContainerHeader& header);
  /// `payload` has at most kMostInChunk bytes. `set`: 0, or the number of the set of names and
  /// facts that the chunk belongs to.
  [[nodiscard]] core::Result<void> add(ChunkKind kind, std::uint32_t set,
                                       std::span<const std::byte> payload);
  /// Sets the flag "finished".
  [[nodiscard]] core::Result<void> finish();

 private:
  ByteSink& sink_;
  Compressor compressor_;
  std::vector<std::byte> chunk_;
};

}  // namespace sp::profiler
