#include "profiler/recording/container_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>

#include "profiler/recording/chunk_header.h"

namespace sp::profiler {
namespace {

std::uint64_t end_of(std::uint64_t offset, const ChunkHeader& header) {
  return offset + kChunkHeaderSize + padded(header.stored);
}

}  // namespace

core::Result<ContainerReader> ContainerReader::open(std::istream& in, std::string name) {
  ContainerReader reader(in, std::move(name));
  in.seekg(0, std::ios::end);
  reader.size_ = in.good() ? static_cast<std::uint64_t>(in.tellg()) : 0;
  ContainerHeaderBytes bytes{};
  const bool is_whole = reader.read(0, bytes);
  switch (is_whole ? decode(bytes, reader.header_) : HeaderCheck::not_a_container) {
    case HeaderCheck::not_a_container:
      return core::fail(reader.name_ + " is not a recording of superprofiler's");
    case HeaderCheck::later_version:
      return core::fail(reader.name_ + " is of a later superprofiler: read it with that one");
    case HeaderCheck::damaged:
      return core::fail(reader.name_ + " is damaged in its first 64 bytes");
    case HeaderCheck::good:
      break;
  }
  reader.scan();
  return reader;
}

void ContainerReader::scan() {
  for (std::uint64_t at = kContainerHeaderSize; at < size_;) {
    ChunkHeaderBytes bytes{};
    const bool has_header = read(at, bytes);
    const ChunkHeader header = decode(bytes);
    const bool is_cut =
        !has_header || (header.stored <= kMostInChunk && end_of(at, header) > size_);
    if (is_cut || !stored_at(at)) {
      end_at(at, is_cut ? "cut" : "damaged");
      return;
    }
    chunks_.push_back({at, static_cast<ChunkKind>(header.kind), header.set});
    at = end_of(at, header);
  }
  if (header_.finished && (chunks_.empty() || chunks_.back().kind != ChunkKind::end)) {
    end_at(size_, "cut");
  }
}

void ContainerReader::for_each(ChunkKind kind, std::uint32_t set, const Visit& visit) {
  // NOLINTNEXTLINE(modernize-loop-convert): end_at() takes chunks away
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (chunks_[i].kind == kind && chunks_[i].set == set) {
      (void)this->visit(i, visit);
    }
  }
}

bool ContainerReader::visit(std::size_t number, const Visit& visit) {
  if (number >= chunks_.size()) {
    return false;
  }
  const std::uint64_t offset = chunks_[number].offset;
  const auto payload = payload_at(offset);
  const bool is_good = payload && visit(*payload);
  if (!is_good) {
    end_at(offset, "damaged");
  }
  return is_good;
}

void ContainerReader::end_at(std::uint64_t offset, std::string_view how) {
  damage_ = fmt::format("{} is {} at byte {}", name_, how, offset);
  std::erase_if(chunks_, [offset](const Chunk& chunk) { return chunk.offset >= offset; });
}

bool ContainerReader::read(std::uint64_t offset, std::span<std::byte> bytes) {
  in_->clear();
  in_->seekg(static_cast<std::streamoff>(offset));
  in_->read(static_cast<char*>(static_cast<void*>(bytes.data())),
            static_cast<std::streamsize>(bytes.size()));
  return in_->good();
}

/// What the chunk has behind its header; nothing if it is damaged.
std::optional<ContainerReader::Stored> ContainerReader::stored_at(std::uint64_t offset) {
  ChunkHeaderBytes bytes{};
  if (!read(offset, bytes)) {
    return std::nullopt;
  }
  const ChunkHeader header = decode(bytes);
  if (header.stored > kMostInChunk || end_of(offset, header) > size_) {
    return std::nullopt;
  }
  Stored stored{header.compressed, std::vector<std::byte>(padded(header.stored))};
  if (!read(offset + kChunkHeaderSize, stored.bytes)) {
    return std::nullopt;
  }
  const auto padding = stored.bytes.begin() + static_cast<std::ptrdiff_t>(header.stored);
  const bool is_padded =
      std::all_of(padding, stored.bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  stored.bytes.resize(header.stored);
  if (!is_padded || checksum_of(bytes, stored.bytes) != header.checksum) {
    return std::nullopt;
  }
  return stored;
}

std::optional<std::vector<std::byte>> ContainerReader::payload_at(std::uint64_t offset) {
  auto stored = stored_at(offset);
  if (!stored) {
    return std::nullopt;
  }
  return stored->is_compressed ? decompressor_->decompress(stored->bytes, kMostInChunk)
                               : std::move(stored->bytes);
}

}  // namespace sp::profiler
