#include "arch/x86_64/encoding.h"

#include <algorithm>
#include <string_view>

namespace sp::arch::x86_64 {
namespace {

// What follows each opcode, one letter each, sixteen to a row (Intel SDM volume 2, appendix A):
//   .  nothing                   m  ModRM
//   b  8-bit immediate           B  ModRM and 8-bit immediate
//   z  immediate of operand size, 32 bits at most        Z  ModRM and such an immediate
//   j  32-bit displacement       w  16-bit immediate     e  16-bit and 8-bit immediates
//   v  immediate of operand size, 64 bits too            o  address, 64 bits
//   t  ModRM, and an immediate if it is `test` (F6, F7)
//   x  no instruction; prefixes and escapes are handled before the lookup
constexpr std::string_view kOneByteMap =
    "mmmmbzxxmmmmbzxx"
    "mmmmbzxxmmmmbzxx"
    "mmmmbzxxmmmmbzxx"
    "mmmmbzxxmmmmbzxx"
    "xxxxxxxxxxxxxxxx"
    "................"
    "xxxmxxxxzZbB...."
    "bbbbbbbbbbbbbbbb"
    "BZxBmmmmmmmmmmmm"
    "..........x....."
    "oooo....bz......"
    "bbbbbbbbvvvvvvvv"
    "BBw.xxBZe.w..bx."
    "mmmmxxx.mmmmmmmm"
    "bbbbbbbbjjxb...."
    "x.xx..tt......mm";

constexpr std::string_view kTwoByteMap =
    "mmmmx.....x.xm.B"
    "mmmmmmmmmmmmmmmm"
    "mmmmxxxxmmmmmmmm"
    "......x.xxxxxxxx"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "BBBBmmm.mmxxmmmm"
    "jjjjjjjjjjjjjjjj"
    "mmmmmmmmmmmmmmmm"
    "...mBmmm...mBmmm"
    "mmmmmmmmmmBmmmmm"
    "mmBmBBBm........"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm";
static_assert(kOneByteMap.size() == 256 && kTwoByteMap.size() == 256);

/// Reads an instruction's bytes in order. Past the end every read gives 0 and sets `ended`.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes)
      : bytes_(bytes.first(std::min(bytes.size(), kLongestInstruction))) {}

  [[nodiscard]] std::uint8_t peek() const {
    return at_ < bytes_.size() ? std::to_integer<std::uint8_t>(bytes_[at_]) : std::uint8_t{0};
  }
  std::uint8_t take() {
    const std::uint8_t byte = peek();
    ended_ = ended_ || at_ >= bytes_.size();
    ++at_;
    return byte;
  }
  /// A little-endian number, sign-extended.
  std::int64_t take_signed(unsigned size) {
    if (size == 0) {
      return 0;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      value |= std::uint64_t{take()} << (8 * i);
    }
    const unsigned unused = 64 - 8 * size;
    return static_cast<std::int64_t>(value << unused) >> unused;
  }
  [[nodiscard]] std::uint8_t position() const { return static_cast<std::uint8_t>(at_); }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

/// Records `byte` if it is a legacy prefix, else answers false.
bool note_prefix(std::uint8_t byte, Encoding& encoding) {
  switch (byte) {
    case 0x26:
    case 0x2E:
    case 0x36:
    case 0x3E:  // es, cs, ss, ds: nothing in 64-bit mode, hints on branches
      return true;
    case 0x64:
      encoding.conflicting_prefixes |= encoding.segment == Segment::gs;
      encoding.segment = Segment::fs;
      return true;
    case 0x65:
      encoding.conflicting_prefixes |= encoding.segment == Segment::fs;
      encoding.segment = Segment::gs;
      return true;
    case 0x66:
      encoding.operand_size_prefix = true;
      return true;
    case 0x67:
      encoding.address_size_prefix = true;
      return true;
    case 0xF0:
      encoding.lock = true;
      return true;
    case 0xF2:
      encoding.conflicting_prefixes |= encoding.rep;
      encoding.repne = true;
      encoding.rep = false;
      return true;
    case 0xF3:
      encoding.conflicting_prefixes |= encoding.repne;
      encoding.rep = true;
      encoding.repne = false;
      return true;
    default:
      return false;
  }
}

void take_prefixes(Cursor& cursor, Encoding& encoding) {
  while (!cursor.ended()) {
    const std::uint8_t byte = cursor.peek();
    if (note_prefix(byte, encoding)) {
      encoding.rex = 0;  // a REX that does not directly precede the opcode is ignored
    } else if ((byte & 0xF0U) == 0x40U) {
      encoding.rex = byte;
    } else {
      return;
    }
    cursor.take();
  }
}

/// VEX, EVEX and XOP: reads the opcode behind the prefix and returns the letter of what follows.
char take_vector_opcode(std::uint8_t escape, Cursor& cursor, Encoding& encoding) {
  encoding.map = OpcodeMap::vector;
  encoding.vector_escape = escape;
  const unsigned payload_size = escape == 0xC5 ? 1 : (escape == 0x62 ? 3 : 2);
  for (unsigned i = 0; i < payload_size; ++i) {
    encoding.vector_payload[i] = cursor.take();
  }
  const unsigned first = encoding.vector_payload[0];
  const unsigned map = escape == 0xC5 ? 1 : first & (escape == 0x62 ? 0x7U : 0x1FU);
  encoding.opcode = cursor.take();
  switch (map) {
    case 1: {
      if (encoding.opcode == 0x7A || encoding.opcode == 0x7B) {
        return 'm';  // EVEX conversions, which the two-byte map does not have
      }
      const char letter = kTwoByteMap[encoding.opcode];
      return letter == 'm' || letter == 'B' || encoding.opcode == 0x77 ? letter : 'x';
    }
    case 2:
    case 5:
    case 6:
    case 9:
      return 'm';
    case 3:
    case 8:
      return 'B';
    case 10:
      return 'Z';
    default:
      return 'x';
  }
}

/// True if `opcode`, followed by `next`, is a prefix of VEX, EVEX or XOP.
bool is_vector_escape(std::uint8_t opcode, std::uint8_t next) {
  const bool is_xop = opcode == 0x8F && (next & 0x1FU) >= 8;  // else it is `pop`
  return opcode == 0xC4 || opcode == 0xC5 || opcode == 0x62 || is_xop;
}

char take_opcode(Cursor& cursor, Encoding& encoding) {
  const std::uint8_t first = cursor.take();
  if (is_vector_escape(first, cursor.peek())) {
    return take_vector_opcode(first, cursor, encoding);
  }
  encoding.opcode = first;
  if (first != 0x0F) {
    return kOneByteMap[first];
  }
  const std::uint8_t second = cursor.take();
  if (second == 0x38 || second == 0x3A) {
    encoding.map = second == 0x38 ? OpcodeMap::three_byte_38 : OpcodeMap::three_byte_3a;
    encoding.opcode = cursor.take();
    return second == 0x38 ? 'm' : 'B';
  }
  encoding.map = OpcodeMap::two_byte;
  encoding.opcode = second;
  return kTwoByteMap[second];
}

void take_modrm(Cursor& cursor, Encoding& encoding) {
  encoding.has_modrm = true;
  encoding.modrm = cursor.take();
  const bool is_control_register_move =
      encoding.map == OpcodeMap::two_byte && (encoding.opcode & 0xFCU) == 0x20U;
  if (is_control_register_move) {
    encoding.modrm |= 0xC0U;  // its mod field is ignored
  }
  if (encoding.mod() == 3) {
    return;
  }
  encoding.has_sib = (encoding.modrm & 7U) == 4;
  if (encoding.has_sib) {
    encoding.sib = cursor.take();
  }
  const unsigned low_base = encoding.has_sib ? encoding.sib & 7U : encoding.modrm & 7U;
  if (encoding.mod() == 1) {
    encoding.displacement_size = 1;
  } else if (encoding.mod() == 2 || low_base == 5) {
    encoding.displacement_size = 4;
  }
  encoding.displacement_offset = cursor.position();
  encoding.displacement = cursor.take_signed(encoding.displacement_size);
}

std::uint8_t immediate_size(char letter, const Encoding& encoding) {
  const auto of_operand = static_cast<std::uint8_t>(encoding.is_narrow() ? 2 : 4);
  switch (letter) {
    case 'b':
    case 'B':
      return 1;
    case 'w':
      return 2;
    case 'e':
      return 3;
    case 'z':
    case 'Z':
      return encoding.map == OpcodeMap::vector ? std::uint8_t{4} : of_operand;
    case 'j':
      return 4;
    case 'v':
      return encoding.wide() ? std::uint8_t{8} : of_operand;
    case 'o':
      return encoding.address_size_prefix ? std::uint8_t{4} : std::uint8_t{8};
    case 't':
      if (encoding.extension() > 1) {
        return 0;
      }
      return encoding.opcode == 0xF6 ? std::uint8_t{1} : of_operand;
    default:
      return 0;
  }
}

/// extrq and insertq (SSE4a) are the only ones of their opcode with two 8-bit immediates.
bool is_sse4a_with_immediates(const Encoding& encoding) {
  return encoding.map == OpcodeMap::two_byte && encoding.opcode == 0x78 &&
         (encoding.operand_size_prefix || encoding.repne);
}

}  // namespace

std::optional<Encoding> read_encoding(std::span<const std::byte> bytes) {
  Cursor cursor(bytes);
  Encoding encoding;
  take_prefixes(cursor, encoding);
  encoding.opcode_offset = cursor.position();
  const char letter = take_opcode(cursor, encoding);
  if (letter == 'x') {
    return std::nullopt;
  }
  constexpr std::string_view kWithModrm = "mBZt";
  if (kWithModrm.find(letter) != std::string_view::npos) {
    take_modrm(cursor, encoding);
  }
  encoding.immediate_size = immediate_size(letter, encoding);
  if (is_sse4a_with_immediates(encoding)) {
    encoding.immediate_size = 2;
  }
  encoding.immediate_offset = cursor.position();
  encoding.immediate = cursor.take_signed(encoding.immediate_size);
  encoding.length = cursor.position();
  if (cursor.ended()) {
    return std::nullopt;
  }
  return encoding;
}

}  // namespace sp::arch::x86_64
