#include "profiler/recording/crc32c.h"

#include <array>

#include "core/bytes.h"

namespace sp::profiler {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;
constexpr std::size_t kSlices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, kSlices>;

/// tables[n][b] is the checksum of byte b with n zero bytes behind it.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < kSlices; ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[slice - 1][byte];
      tables[slice][byte] = (before >> 8U) ^ tables[0][before & 0xFFU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) {
  crc = ~crc;
  std::size_t at = 0;
  // Eight bytes a step, which is four times as fast as one: a recording may have gigabytes.
  for (; at + kSlices <= bytes.size(); at += kSlices) {
    const std::uint64_t word = *core::read_at<std::uint64_t>(bytes, at) ^ crc;
    crc = 0;
    for (std::size_t slice = 0; slice < kSlices; ++slice) {
      crc ^= kTables[kSlices - 1 - slice][(word >> (8 * slice)) & 0xFFU];
    }
  }
  for (; at < bytes.size(); ++at) {
    crc = (crc >> 8U) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(bytes[at])) & 0xFFU];
  }
  return ~crc;
}

}  // namespace sp::profiler
