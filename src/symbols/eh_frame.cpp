#include "symbols/eh_frame.h"

#include <dwarf.h>

#include <algorithm>

#include "core/bytes.h"

namespace sp::symbols {

template <typename T>
T FrameReader::take() {
  const auto value = core::read_at<T>(bytes_, at_);
  if (failed_ || !value) {
    failed_ = true;
    return T{};
  }
  at_ += sizeof(T);
  return *value;
}

template std::uint8_t FrameReader::take();
template std::uint32_t FrameReader::take();
template std::uint64_t FrameReader::take();

void FrameReader::skip(std::uint64_t bytes) {
  if (failed_ || bytes > left()) {
    failed_ = true;
    return;
  }
  at_ += static_cast<std::size_t>(bytes);
}

std::uint64_t FrameReader::take_uleb() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = take<std::uint8_t>();
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) {
      return value;
    }
  }
  failed_ = true;
  return 0;
}

std::uint64_t FrameReader::take_encoded(std::uint8_t encoding, std::uint64_t data_base) {
  const std::uint64_t here = address();
  const auto widen = [](auto value) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  };
  std::uint64_t value = 0;
  switch (encoding & 0x0FU) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      value = take<std::uint64_t>();
      break;
    case DW_EH_PE_udata4:
      value = take<std::uint32_t>();
      break;
    case DW_EH_PE_sdata4:
      value = widen(static_cast<std::int32_t>(take<std::uint32_t>()));
      break;
    case DW_EH_PE_uleb128:
      value = take_uleb();
      break;
    default:
      failed_ = true;
      return 0;
  }
  switch (encoding & 0xF0U) {
    case DW_EH_PE_absptr:
      return value;
    case DW_EH_PE_pcrel:
      return here + value;
    case DW_EH_PE_datarel:
      return data_base + value;
    default:
      failed_ = true;
      return 0;
  }
}

namespace {

/// A record's length field and where its content lies.
struct RecordHead {
  std::uint64_t content = 0;  // address of the CIE id or CIE pointer
  std::uint64_t size = 0;     // of the content
};

std::optional<RecordHead> take_head(FrameReader& reader) {
  std::uint64_t size = reader.take<std::uint32_t>();
  if (size == 0xFFFFFFFFU) {
    size = reader.take<std::uint64_t>();
  }
  if (reader.failed() || size == 0 || size > reader.left()) {
    return std::nullopt;
  }
  return RecordHead{reader.address(), size};
}

/// How the FDEs of the CIE at `address` spell their addresses: the 'R' of its augmentation.
std::optional<std::uint8_t> address_encoding(const core::ElfImage& image, std::uint64_t address) {
  FrameReader reader(image.bytes_at(address), address);
  if (!take_head(reader) || reader.take<std::uint32_t>() != 0) {
    return std::nullopt;
  }
  const auto version = reader.take<std::uint8_t>();
  const std::string_view augmentation = core::text_at(image.bytes_at(reader.address()), 0);
  reader.skip(augmentation.size() + 1);
  if (!augmentation.starts_with('z')) {
    return augmentation.empty() ? std::optional<std::uint8_t>(DW_EH_PE_absptr) : std::nullopt;
  }
  reader.take_uleb();  // code alignment
  reader.take_uleb();  // data alignment, signed: as many bytes
  if (version == 1) {
    reader.skip(1);  // return address register
  } else {
    reader.take_uleb();
  }
  reader.take_uleb();  // size of the augmentation's data
  std::uint8_t encoding = DW_EH_PE_absptr;
  for (const char letter : augmentation.substr(1)) {
    if (letter == 'R') {
      encoding = reader.take<std::uint8_t>();
      break;
    }
    if (letter == 'P') {
      const auto personality = reader.take<std::uint8_t>();
      reader.take_encoded(personality & 0x0FU, 0);
    } else if (letter == 'L') {
      reader.skip(1);
    } else if (letter != 'S' && letter != 'B' && letter != 'G') {
      return std::nullopt;
    }
  }
  return reader.failed() ? std::nullopt : std::optional(encoding);
}

}  // namespace

FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address) {
  FrameReader reader(image.bytes_at(address), address);
  const auto head = take_head(reader);
  if (!head) {
    return {};
  }
  FrameRecord record{head->content + head->size, std::nullopt};
  const auto cie_distance = reader.take<std::uint32_t>();
  if (cie_distance == 0 || cie_distance > head->content) {
    return record;
  }
  const auto encoding = address_encoding(image, head->content - cie_distance);
  if (!encoding) {
    return record;
  }
  const std::uint64_t begin = reader.take_encoded(*encoding, 0);
  const std::uint64_t size = reader.take_encoded(*encoding & 0x0FU, 0);
  if (!reader.failed() && size != 0 && begin + size > begin) {
    record.covers = CodeRange{begin, begin + size};
  }
  return record;
}

}  // namespace sp::symbols
