#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/flags.h"

namespace sp::arch::x86_64 {

namespace undefined {

inline constexpr std::uint64_t kByProduct = kSign | kZero | kAdjust | kParity;
inline constexpr std::uint64_t kByBitTest = kOverflow | kByProduct;
inline constexpr std::uint64_t kByBitScan = kArithmeticFlags & ~kZero;

/// C0, C1, D0 to D3: rotates and shifts, by one, by an immediate or by cl.
inline std::uint64_t by_shift(const Encoding& encoding) {
  const bool by_one = (encoding.opcode & 0xFEU) == 0xD0U;
  if (encoding.extension() < 4) {
    return by_one ? 0 : kOverflow;
  }
  return by_one ? kAdjust : kAdjust | kOverflow | kCarry;  // CF where the count reaches the width
}

/// F6, F7.
inline std::uint64_t by_group_3(const Encoding& encoding) {
  switch (encoding.extension()) {
    case 0:
    case 1:  // test
      return kAdjust;
    case 4:
    case 5:  // mul, imul
      return kByProduct;
    case 6:
    case 7:  // div, idiv
      return kArithmeticFlags;
    default:
      return 0;
  }
}

inline std::uint64_t by_one_byte(const Encoding& encoding) {
  const auto is_logic = [](unsigned operation) {
    return operation == 1 || operation == 4 || operation == 6;  // or, and, xor
  };
  const unsigned opcode = encoding.opcode;
  if (opcode < 0x40) {
    return is_logic(opcode >> 3U) ? kAdjust : 0;
  }
  if (opcode >= 0x80 && opcode <= 0x83) {
    return is_logic(encoding.extension()) ? kAdjust : 0;
  }
  if (opcode == 0xC0 || opcode == 0xC1 || (opcode >= 0xD0 && opcode <= 0xD3)) {
    return by_shift(encoding);
  }
  switch (opcode) {
    case 0x69:
    case 0x6B:  // imul
      return kByProduct;
    case 0x84:
    case 0x85:
    case 0xA8:
    case 0xA9:  // test
      return kAdjust;
    case 0xF6:
    case 0xF7:
      return by_group_3(encoding);
    default:
      return 0;
  }
}

inline std::uint64_t by_two_byte(const Encoding& encoding) {
  switch (encoding.opcode) {
    case 0xA4:
    case 0xA5:
    case 0xAC:
    case 0xAD:  // shld, shrd: all of them where the count exceeds the width
      return kArithmeticFlags;
    case 0xAF:  // imul
      return kByProduct;
    case 0xA3:
    case 0xAB:
    case 0xB3:
    case 0xBA:
    case 0xBB:  // bt, bts, btr, btc
      return kByBitTest;
    case 0xBC:
    case 0xBD:
      if (encoding.rep) {  // tzcnt, lzcnt
        return kByBitScan & ~kCarry;
      }
      return kByBitScan;  // bsf, bsr
    default:
      return 0;
  }
}

}  // namespace undefined

/// The flags that the manuals of Intel or AMD leave undefined after the first instruction of
/// `code` (Intel SDM volume 1, appendix A; AMD APM volume 3, "rFLAGS Affected").
inline std::uint64_t undefined_flags(std::span<const std::byte> code) {
  const auto encoding = read_encoding(code);
  if (!encoding) {
    return 0;
  }
  if (encoding->map == OpcodeMap::one_byte) {
    return undefined::by_one_byte(*encoding);
  }
  return encoding->map == OpcodeMap::two_byte ? undefined::by_two_byte(*encoding) : 0;
}

}  // namespace sp::arch::x86_64
