#include "profiler/spoor/spoor_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "core/bytes.h"
#include "profiler/spoor/snappy.h"
#include "profiler/text.h"

namespace sp::profiler {
namespace {

using core::Result;
using SpoorBytes = std::span<const std::byte>;

constexpr std::array<unsigned char, 10> kSpoorMagic = {0xC8, 'S',  'p',  'o',  'o',
                                                       'r',  0x0D, 0x0A, 0x1A, 0x0A};
constexpr std::size_t kByteOrderOffset = 10;
constexpr std::size_t kCompressionOffset = 11;
constexpr std::size_t kVersionOffset = 12;
constexpr std::size_t kRunOffset = 16;
constexpr std::size_t kProcessOffset = 24;
constexpr std::size_t kThreadOffset = 32;
constexpr std::size_t kSystemOffset = 40;
constexpr std::size_t kSteadyOffset = 48;
constexpr std::size_t kCountOffset = 56;

constexpr std::size_t kFunctionOffset = 8;
constexpr std::size_t kTypeOffset = 16;

enum class SpoorOrder : std::uint8_t { little, big };
enum class SpoorCompression : std::uint8_t { none, snappy };

static_assert(std::endian::native == std::endian::little);

/// Numbers in the byte order of a file; those behind its end are 0.
class SpoorNumbers {
 public:
  SpoorNumbers(SpoorBytes bytes, SpoorOrder order) : bytes_(bytes), order_(order) {}

  template <typename Number>
  [[nodiscard]] Number at(std::size_t offset) const {
    auto raw = core::read_at<std::array<std::byte, sizeof(Number)>>(bytes_, offset)
                   .value_or(std::array<std::byte, sizeof(Number)>{});
    if (order_ == SpoorOrder::big) {
      std::reverse(raw.begin(), raw.end());
    }
    return std::bit_cast<Number>(raw);
  }

 private:
  SpoorBytes bytes_;
  SpoorOrder order_;
};

SpoorHeader spoor_header(const SpoorNumbers& in) {
  return {.run_id = in.at<std::uint64_t>(kRunOffset),
          .process = in.at<std::int64_t>(kProcessOffset),
          .thread = in.at<std::uint64_t>(kThreadOffset),
          .system_ns = in.at<std::int64_t>(kSystemOffset),
          .steady_ns = in.at<std::int64_t>(kSteadyOffset)};
}

/// Why the file cannot be read; "" if it can.
std::string refusal(SpoorBytes bytes, const std::string& name) {
  if (bytes.size() < kSpoorHeaderSize && (bytes.empty() || is_spoor_trace(bytes))) {
    return fmt::format("{} has {} bytes, and the header of Spoor's traces alone {}: it is cut",
                       name, bytes.size(), kSpoorHeaderSize);
  }
  if (!is_spoor_trace(bytes)) {
    return name + " is not a trace of Spoor's: it does not begin with Spoor's 10 bytes";
  }
  const auto order = std::to_integer<unsigned>(bytes[kByteOrderOffset]);
  if (order > static_cast<unsigned>(SpoorOrder::big)) {
    return fmt::format("{} is damaged: byte {}, the byte order, is {}, not 0 or 1", name,
                       kByteOrderOffset, order);
  }
  const SpoorNumbers header(bytes, static_cast<SpoorOrder>(order));
  if (const auto version = header.at<std::uint32_t>(kVersionOffset); version != 0) {
    return fmt::format("{} has version {} of Spoor's format; only 0 can be read", name, version);
  }
  const auto compression = std::to_integer<unsigned>(bytes[kCompressionOffset]);
  if (compression > static_cast<unsigned>(SpoorCompression::snappy)) {
    return fmt::format("{} is damaged: byte {}, the compression, is {}, not 0 or 1", name,
                       kCompressionOffset, compression);
  }
  if (const auto count = header.at<std::int32_t>(kCountOffset); count < 0) {
    return fmt::format("{} is damaged: at byte {} it says that it has {} events", name,
                       kCountOffset, count);
  }
  return "";
}

void read_spoor_events(const SpoorNumbers& in, std::size_t count, std::vector<SpoorEvent>& events) {
  events.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * kSpoorEventSize;
    events.push_back({in.at<std::int64_t>(at), in.at<std::uint64_t>(at + kFunctionOffset),
                      in.at<std::uint32_t>(at + kTypeOffset)});
  }
}

}  // namespace

bool is_spoor_trace(SpoorBytes bytes) {
  return bytes.size() >= kSpoorMagic.size() &&
         std::memcmp(bytes.data(), kSpoorMagic.data(), kSpoorMagic.size()) == 0;
}

Result<SpoorFile> read_spoor_file(SpoorBytes bytes, const std::string& name) {
  if (const std::string why = refusal(bytes, name); !why.empty()) {
    return core::fail(why);
  }
  const auto order = static_cast<SpoorOrder>(bytes[kByteOrderOffset]);
  const SpoorNumbers head(bytes, order);
  SpoorFile file{spoor_header(head), {}, {}};
  const auto count = static_cast<std::size_t>(head.at<std::int32_t>(kCountOffset));
  const std::size_t size = count * kSpoorEventSize;
  SpoorBytes stored = bytes.subspan(kSpoorHeaderSize);
  std::optional<std::vector<std::byte>> unpacked;
  if (static_cast<SpoorCompression>(bytes[kCompressionOffset]) == SpoorCompression::snappy) {
    unpacked = unpack_snappy(stored, size);
    if (!unpacked) {
      return core::fail(
          fmt::format("{} is damaged: its block of snappy behind byte {} does not hold {} events",
                      name, kSpoorHeaderSize, grouped(count)));
    }
    stored = *unpacked;
  }
  const std::size_t whole = std::min(count, stored.size() / kSpoorEventSize);
  if (stored.size() < size) {
    file.damage = fmt::format("{} is cut at byte {}: {} of its {} events can be read", name,
                              bytes.size(), grouped(whole), grouped(count));
  } else if (stored.size() > size) {
    file.damage = fmt::format("{} has {} bytes behind its {} events, which are left out", name,
                              grouped(stored.size() - size), grouped(count));
  }
  read_spoor_events(SpoorNumbers(stored, order), whole, file.events);
  return file;
}

}  // namespace sp::profiler
