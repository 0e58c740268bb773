#include "profiler/spoor/proto_reader.h"

namespace sp::profiler {
namespace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

constexpr std::uint64_t kMostFieldNumber = (std::uint64_t{1} << 29U) - 1;

}  // namespace

std::optional<ProtoReader::Field> ProtoReader::next() {
  if (rest_.empty() || is_damaged_) {
    return std::nullopt;
  }
  const std::uint64_t tag = varint();
  const std::uint64_t number = tag >> 3U;
  Field field;
  field.number = static_cast<std::uint32_t>(number);
  is_damaged_ = is_damaged_ || number == 0 || number > kMostFieldNumber;
  switch (static_cast<WireType>(tag & 7U)) {
    case WireType::varint:
      field.value = varint();
      break;
    case WireType::fixed64:
      (void)take(sizeof(std::uint64_t));
      break;
    case WireType::bytes:
      field.bytes = take(varint());
      break;
    case WireType::fixed32:
      (void)take(sizeof(std::uint32_t));
      break;
    default:  // groups, which no message has any more
      is_damaged_ = true;
  }
  return is_damaged_ ? std::nullopt : std::optional(field);
}

std::uint64_t ProtoReader::varint() {
  constexpr unsigned kBits = 7;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += kBits) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) {
      return value;
    }
  }
  is_damaged_ = true;
  return 0;
}

std::string_view ProtoReader::take(std::uint64_t size) {
  if (is_damaged_ || size > rest_.size()) {
    is_damaged_ = true;
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

}  // namespace sp::profiler
