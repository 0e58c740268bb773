#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sp::profiler {

/// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78), as in iSCSI, ext4 and btrfs: RFC 3720
/// appendix B.4 has test values. `crc` continues the checksum of the bytes before.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

}  // namespace sp::profiler
