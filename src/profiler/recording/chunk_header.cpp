#include "profiler/recording/chunk_header.h"

#include <algorithm>

#include "profiler/recording/crc32c.h"
#include "profiler/recording/payload.h"

namespace sp::profiler {
namespace {

constexpr std::uint32_t kCompressed = 1;
constexpr std::uint64_t kFinished = 1;
constexpr std::size_t kChecksumOffset = 16;  // in a chunk's header

template <std::size_t kSize>
std::array<std::byte, kSize> bytes_of(const PayloadWriter& out) {
  std::array<std::byte, kSize> bytes{};
  std::copy(out.bytes().begin(), out.bytes().end(), bytes.begin());
  return bytes;
}

/// The flags change when the run ends, so they are not in it.
std::uint32_t checksum_before_flags(std::span<const std::byte> header) {
  return crc32c(header.first(kContainerFlagsOffset));
}

}  // namespace

ChunkHeaderBytes encode(const ChunkHeader& header) {
  PayloadWriter out;
  out.u32(header.kind);
  out.u32(header.compressed ? kCompressed : 0);
  out.u64(header.stored);
  out.u32(header.checksum);
  out.u32(header.set);
  return bytes_of<kChunkHeaderSize>(out);
}

ChunkHeader decode(const ChunkHeaderBytes& bytes) {
  PayloadReader in(bytes);
  ChunkHeader header;
  header.kind = in.u32();
  header.compressed = (in.u32() & kCompressed) != 0;
  header.stored = in.u64();
  header.checksum = in.u32();
  header.set = in.u32();
  return header;
}

std::uint32_t checksum_of(ChunkHeaderBytes header, std::span<const std::byte> stored) {
  std::fill_n(header.begin() + kChecksumOffset, sizeof(std::uint32_t), std::byte{0});
  return crc32c(stored, crc32c(header));
}

ContainerHeaderBytes encode(const ContainerHeader& header) {
  PayloadWriter out;
  out.column(std::span<const unsigned char>(kContainerMagic));
  out.u32(kContainerVersion);
  out.u32(kContainerHeaderSize);
  out.u64(header.run_id);
  out.number(header.realtime_ns);
  out.number(header.monotonic_ns);
  out.u32(header.pid);
  out.u32(static_cast<std::uint32_t>(header.cpu));
  const std::uint32_t checksum = checksum_before_flags(out.bytes());
  out.u64(container_flags(header.finished));
  out.u32(checksum);
  out.u32(0);
  return bytes_of<kContainerHeaderSize>(out);
}

HeaderCheck decode(const ContainerHeaderBytes& bytes, ContainerHeader& header) {
  const std::span<const std::byte> magic = std::as_bytes(std::span(kContainerMagic));
  if (!std::equal(magic.begin(), magic.end(), bytes.begin())) {
    return HeaderCheck::not_a_container;
  }
  const std::span<const std::byte> fields(bytes);
  PayloadReader in(fields.subspan(magic.size()));
  const std::uint32_t version = in.u32();
  const std::uint32_t size = in.u32();
  header.run_id = in.u64();
  header.realtime_ns = in.number<std::int64_t>();
  header.monotonic_ns = in.number<std::int64_t>();
  header.pid = in.u32();
  const std::uint32_t cpu = in.u32();
  header.cpu = cpu <= static_cast<std::uint32_t>(ContainerHeader::Cpu::aarch64)
                   ? static_cast<ContainerHeader::Cpu>(cpu)
                   : ContainerHeader::Cpu::unknown;
  header.finished = (in.u64() & kFinished) != 0;
  if (in.u32() != checksum_before_flags(bytes)) {
    return HeaderCheck::damaged;
  }
  if (version != kContainerVersion || size != kContainerHeaderSize) {
    return HeaderCheck::later_version;
  }
  return HeaderCheck::good;
}

std::uint64_t container_flags(bool finished) { return finished ? kFinished : 0; }

}  // namespace sp::profiler
