#pragma once

#include "arch/x86_64/encoding.h"

namespace sp::arch::x86_64 {

/// The fields of a VEX, EVEX or XOP prefix (Intel SDM volume 2, sections 2.3 and 2.7; AMD APM
/// volume 6, section 1.4).
struct VectorPrefix {
  unsigned map = 0;
  unsigned mandatory = 0;  // pp: 0 none, 1: 66, 2: F3, 3: F2
  bool wide = false;
  unsigned vvvv = 0;  // a register number, below 16
  /// What extends the fields of ModRM and SIB: 0 or 8.
  unsigned reg_extension = 0;
  unsigned index_extension = 0;
  unsigned rm_extension = 0;
  /// EVEX with bits that are fixed on CPUs without APX.
  bool has_apx_bits = false;
};

/// `encoding` must be of the `vector` map.
[[nodiscard]] inline VectorPrefix vector_prefix(const Encoding& encoding) {
  const auto inverted = [](unsigned byte, unsigned bit, unsigned value) {
    return ((byte >> bit) & 1U) == 0 ? value : 0U;
  };
  VectorPrefix prefix;
  const unsigned first = encoding.vector_payload[0];
  const bool is_short = encoding.vector_escape == 0xC5;
  const bool is_evex = encoding.vector_escape == 0x62;
  const unsigned last = is_short ? first : encoding.vector_payload[1];
  prefix.map = is_short ? 1 : first & (is_evex ? 0x7U : 0x1FU);
  prefix.mandatory = last & 3U;
  prefix.vvvv = (~last >> 3U) & 0xFU;
  prefix.wide = !is_short && (last & 0x80U) != 0;
  prefix.reg_extension = inverted(first, 7, 8);
  if (!is_short) {
    prefix.index_extension = inverted(first, 6, 8);
    prefix.rm_extension = inverted(first, 5, 8);
  }
  if (is_evex) {
    prefix.has_apx_bits = (first & 8U) != 0 || (last & 4U) == 0;
  }
  return prefix;
}

}  // namespace sp::arch::x86_64
