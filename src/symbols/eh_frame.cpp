#include "symbols/eh_frame.h"

#include <dwarf.h>
#include <elf.h>

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

/// A record's length field and the place of its content.
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

/// The CIE at `address`: the 'R' and 'L' of its augmentation.
std::optional<FrameEncodings> read_encodings(const core::ElfImage& image, std::uint64_t address) {
  FrameReader reader(image.bytes_at(address), address);
  if (!take_head(reader) || reader.take<std::uint32_t>() != 0) {
    return std::nullopt;
  }
  const auto version = reader.take<std::uint8_t>();
  const std::string_view augmentation = core::text_at(image.bytes_at(reader.address()), 0);
  reader.skip(augmentation.size() + 1);
  if (!augmentation.starts_with('z')) {
    return augmentation.empty() ? std::optional<FrameEncodings>(FrameEncodings{}) : std::nullopt;
  }
  reader.take_uleb();  // code alignment
  reader.take_uleb();  // data alignment, signed: as many bytes
  if (version == 1) {
    reader.skip(1);  // return address register
  } else {
    reader.take_uleb();
  }
  reader.take_uleb();  // size of the augmentation's data
  FrameEncodings encodings{DW_EH_PE_absptr, std::nullopt, true, false};
  for (const char letter : augmentation.substr(1)) {
    if (letter == 'R') {
      encodings.address = reader.take<std::uint8_t>();
    } else if (letter == 'P') {
      const auto personality = reader.take<std::uint8_t>();
      reader.take_encoded(personality & 0x0FU, 0);
    } else if (letter == 'L') {
      encodings.handlers = reader.take<std::uint8_t>();
    } else if (letter == 'S') {
      encodings.is_signal_frame = true;
    } else if (letter != 'B' && letter != 'G') {
      return std::nullopt;
    }
  }
  return reader.failed() ? std::nullopt : std::optional(encodings);
}

/// Of an FDE behind the size of its augmentation's data: the LSDA's address; 0 if there is none.
std::uint64_t take_handlers(FrameReader reader, const FrameEncodings& encodings) {
  if (!encodings.handlers || *encodings.handlers == DW_EH_PE_omit) {
    return 0;
  }
  FrameReader plain = reader;
  const bool is_none = plain.take_encoded(*encodings.handlers & 0x0FU, 0) == 0;
  const std::uint64_t handlers = reader.take_encoded(*encodings.handlers, 0);
  return reader.failed() || is_none ? 0 : handlers;
}

/// What an FDE's first instructions say of the canonical frame address, until the code advances:
/// that it is not where a call leaves it (DWARF 5, 6.4.2; LSB adds DW_CFA_GNU_args_size).
bool moves_frame(FrameReader reader, std::uint64_t end, std::uint64_t offset_of_call) {
  constexpr unsigned kHigh = 6;
  while (!reader.failed() && reader.address() < end) {
    const auto code = reader.take<std::uint8_t>();
    switch (const unsigned high = code >> kHigh; high) {
      case DW_CFA_advance_loc >> kHigh:
        return false;
      case DW_CFA_offset >> kHigh:
        reader.take_uleb();
        continue;
      case DW_CFA_restore >> kHigh:
        continue;
      default:
        break;
    }
    switch (code) {
      case DW_CFA_nop:
      case DW_CFA_remember_state:
        break;
      case DW_CFA_undefined:
      case DW_CFA_same_value:
      case DW_CFA_GNU_args_size:
        reader.take_uleb();
        break;
      case DW_CFA_offset_extended:
      case DW_CFA_register:
        reader.take_uleb();
        reader.take_uleb();
        break;
      case DW_CFA_def_cfa:
        reader.take_uleb();
        return reader.take_uleb() != offset_of_call;
      case DW_CFA_def_cfa_offset:
        return reader.take_uleb() != offset_of_call;
      case DW_CFA_def_cfa_register:
      case DW_CFA_def_cfa_expression:
        return true;
      default:
        return false;
    }
  }
  return false;
}

}  // namespace

FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address) {
  FrameEncodingsCache cache;
  return read_frame_record(image, address, cache);
}

FrameRecord read_frame_record(const core::ElfImage& image, std::uint64_t address,
                              FrameEncodingsCache& cache) {
  FrameReader reader(image.bytes_at(address), address);
  const auto head = take_head(reader);
  if (!head) {
    return {};
  }
  FrameRecord record{head->content + head->size, std::nullopt, 0, false, false};
  const auto cie_distance = reader.take<std::uint32_t>();
  if (cie_distance == 0 || cie_distance > head->content) {
    return record;
  }
  const std::uint64_t cie = head->content - cie_distance;
  auto known = cache.find(cie);
  if (known == cache.end()) {
    known = cache.emplace(cie, read_encodings(image, cie)).first;
  }
  if (!known->second) {
    return record;
  }
  const FrameEncodings& encodings = *known->second;
  const std::uint64_t begin = reader.take_encoded(encodings.address, 0);
  const std::uint64_t size = reader.take_encoded(encodings.address & 0x0FU, 0);
  if (!reader.failed() && size != 0 && begin + size > begin) {
    record.covers = CodeRange{begin, begin + size};
    record.is_signal_frame = encodings.is_signal_frame;
    if (encodings.has_augmentation) {
      const std::uint64_t data = reader.take_uleb();
      record.handlers = take_handlers(reader, encodings);
      reader.skip(data);
    }
    constexpr std::uint64_t kReturnAddress = 8;
    record.begins_in_frame =
        !record.is_signal_frame &&
        moves_frame(reader, record.next, image.machine() == EM_X86_64 ? kReturnAddress : 0);
  }
  return record;
}

std::vector<std::uint64_t> read_landing_pads(const core::ElfImage& image, std::uint64_t handlers,
                                             std::uint64_t function) {
  FrameReader reader(image.bytes_at(handlers), handlers);
  const auto pads_encoding = reader.take<std::uint8_t>();
  const std::uint64_t pads_base =
      pads_encoding == DW_EH_PE_omit ? function : reader.take_encoded(pads_encoding, 0);
  if (reader.take<std::uint8_t>() != DW_EH_PE_omit) {
    reader.take_uleb();  // where the types are
  }
  const auto encoding = reader.take<std::uint8_t>();
  const std::uint64_t size = reader.take_uleb();
  const std::uint64_t end = reader.address() + size;
  std::vector<std::uint64_t> pads;
  while (!reader.failed() && size <= image.bytes().size() && reader.address() < end) {
    reader.take_encoded(encoding, 0);  // where the calls begin
    reader.take_encoded(encoding, 0);  // and how long they are
    const std::uint64_t pad = reader.take_encoded(encoding, 0);
    reader.take_uleb();  // action
    if (!reader.failed() && pad != 0) {
      pads.push_back(pads_base + pad);
    }
  }
  return pads;
}

}  // namespace sp::symbols
