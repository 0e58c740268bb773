#include "supervisor/unwinding/dwarf_reader.h"

#include <algorithm>

namespace sp::supervisor {

void DwarfReader::skip(std::uint64_t count) {
  if (bytes_.size() - at_ < count) {
    fail();
    return;
  }
  at_ += count;
}

std::uint64_t DwarfReader::take_uleb() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; ok_; shift += 7) {
    const auto byte = take<std::uint8_t>();
    if (shift < 64) {
      value |= std::uint64_t{byte & 0x7fU} << shift;
    }
    if ((byte & 0x80U) == 0) {
      break;
    }
  }
  return value;
}

std::int64_t DwarfReader::take_sleb() {
  std::uint64_t value = 0;
  unsigned shift = 0;
  while (ok_) {
    const auto byte = take<std::uint8_t>();
    if (shift < 64) {
      value |= std::uint64_t{byte & 0x7fU} << shift;
    }
    shift += 7;
    if ((byte & 0x80U) == 0) {
      if (shift < 64 && (byte & 0x40U) != 0) {
        value |= ~std::uint64_t{0} << shift;
      }
      break;
    }
  }
  return static_cast<std::int64_t>(value);
}

std::string_view DwarfReader::take_string() {
  const auto left = rest();
  const auto end = std::find(left.begin(), left.end(), std::byte{0});
  if (end == left.end()) {
    fail();
    return {};
  }
  const auto length = static_cast<std::size_t>(end - left.begin());
  at_ += length + 1;
  return {reinterpret_cast<const char*>(left.data()), length};
}

std::optional<std::uint64_t> DwarfReader::take_pointer(std::uint8_t encoding,
                                                       std::uint64_t data_base) {
  if (encoding == kPointerOmitted) {
    return std::nullopt;
  }
  const std::uint64_t own_address = address();
  std::uint64_t value = 0;
  switch (encoding & 0x0fU) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = take<std::uint64_t>();
      break;
    case 0x01:
      value = take_uleb();
      break;
    case 0x02:
      value = take<std::uint16_t>();
      break;
    case 0x03:
      value = take<std::uint32_t>();
      break;
    case 0x09:
      value = static_cast<std::uint64_t>(take_sleb());
      break;
    case 0x0a:
      value = static_cast<std::uint64_t>(std::int64_t{take<std::int16_t>()});
      break;
    case 0x0b:
      value = static_cast<std::uint64_t>(std::int64_t{take<std::int32_t>()});
      break;
    default:
      fail();
      return std::nullopt;
  }
  switch (encoding & 0x70U) {
    case 0x00:
      break;
    case 0x10:
      value += own_address;
      break;
    case kPointerDataRelative:
      value += data_base;
      break;
    default:
      fail();
      return std::nullopt;
  }
  return ok_ ? std::optional(value) : std::nullopt;
}

}  // namespace sp::supervisor
