#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "profiler/recording/compression.h"
#include "profiler/recording/container.h"

namespace sp::profiler {

/// Reads a container, however it is damaged: what stands before the damage. Holds 16 bytes for each
/// chunk, and one chunk at a time.
class ContainerReader {
 public:
  struct Chunk {
    std::uint64_t offset = 0;
    ChunkKind kind{};
    std::uint32_t set = 0;
  };
  /// Gets what a chunk holds; false if that is not what the kind has.
  using Visit = std::function<bool(std::span<const std::byte> payload)>;

  /// Reads every chunk and compares the checksums. `in` must outlive the reader; `name` is for
  /// messages. Errors: it is not a container, it is one of a later version, its header is damaged.
  [[nodiscard]] static core::Result<ContainerReader> open(std::istream& in, std::string name);

  [[nodiscard]] const ContainerHeader& header() const { return header_; }
  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// "NAME is damaged at byte 1234" or "NAME is cut at byte 1234", which begins the first chunk
  /// that cannot be read; "" if all can.
  [[nodiscard]] const std::string& damage() const { return damage_; }

  /// The chunks of a kind and set, in order. Where one cannot be understood the container is
  /// damaged, and ends there for every later call.
  void for_each(ChunkKind kind, std::uint32_t set, const Visit& visit);
  /// One of chunks(), which may have been taken away meanwhile; what it holds ends the container
  /// in the same way. False if it could not be visited.
  bool visit(std::size_t number, const Visit& visit);

 private:
  struct Stored {
    bool is_compressed = false;
    std::vector<std::byte> bytes;
  };

  ContainerReader(std::istream& in, std::string name) : in_(&in), name_(std::move(name)) {}

  void scan();
  void end_at(std::uint64_t offset, std::string_view how);
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> bytes);
  [[nodiscard]] std::optional<Stored> stored_at(std::uint64_t offset);
  [[nodiscard]] std::optional<std::vector<std::byte>> payload_at(std::uint64_t offset);

  std::istream* in_;
  std::string name_;
  std::uint64_t size_ = 0;
  ContainerHeader header_;
  std::vector<Chunk> chunks_;
  std::string damage_;
  std::unique_ptr<Decompressor> decompressor_ = std::make_unique<Decompressor>();
};

}  // namespace sp::profiler
