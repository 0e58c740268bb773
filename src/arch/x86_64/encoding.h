#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sp::arch::x86_64 {

/// Longest instruction (Intel SDM volume 2, section 2.3.11).
inline constexpr std::size_t kLongestInstruction = 15;

enum class OpcodeMap : std::uint8_t { one_byte, two_byte, three_byte_38, three_byte_3a, vector };

enum class Segment : std::uint8_t { flat, fs, gs };  // the others have base 0 in 64-bit mode

/// The fields of one instruction of 64-bit mode (Intel SDM volume 2, chapter 2).
struct Encoding {
  OpcodeMap map = OpcodeMap::one_byte;  // `vector` is all of VEX, EVEX and XOP
  std::uint8_t opcode = 0;
  std::uint8_t rex = 0;              // 0 if there is none
  bool operand_size_prefix = false;  // 66
  bool address_size_prefix = false;  // 67
  bool repne = false;                // F2: repne, xacquire, bnd
  bool rep = false;                  // F3: rep, xrelease
  bool lock = false;
  Segment segment = Segment::flat;
  /// F2 with F3, or fs with gs: the manuals leave open which of them counts.
  bool conflicting_prefixes = false;
  std::uint8_t opcode_offset = 0;  // bytes of legacy prefixes and REX in front of the opcode
  bool has_modrm = false;
  std::uint8_t modrm = 0;
  bool has_sib = false;
  std::uint8_t sib = 0;
  std::uint8_t displacement_offset = 0;  // from the first byte of the instruction
  std::uint8_t displacement_size = 0;
  std::int64_t displacement = 0;
  std::uint8_t immediate_offset = 0;
  std::uint8_t immediate_size = 0;
  std::int64_t immediate = 0;  // sign-extended; `enter` has its two together
  std::uint8_t length = 0;
  /// Of the `vector` map: C5, C4 (VEX), 62 (EVEX) or 8F (XOP), and the prefix's bytes behind it.
  std::uint8_t vector_escape = 0;
  std::array<std::uint8_t, 3> vector_payload{};

  [[nodiscard]] bool wide() const { return (rex & 8U) != 0; }
  /// 66 counts: REX.W overrides it.
  [[nodiscard]] bool is_narrow() const { return operand_size_prefix && !wide(); }
  /// Fields of the ModRM and SIB bytes with the REX bit that extends each, as register numbers.
  [[nodiscard]] unsigned reg() const { return ((modrm >> 3U) & 7U) | ((rex & 4U) << 1U); }
  [[nodiscard]] unsigned rm() const { return (modrm & 7U) | ((rex & 1U) << 3U); }
  [[nodiscard]] unsigned base() const { return (sib & 7U) | ((rex & 1U) << 3U); }
  [[nodiscard]] unsigned index() const { return ((sib >> 3U) & 7U) | ((rex & 2U) << 2U); }
  /// The register in the low bits of the opcode (push, pop, mov immediate).
  [[nodiscard]] unsigned opcode_reg() const { return (opcode & 7U) | ((rex & 1U) << 3U); }
  /// The opcode's extension (/0 to /7).
  [[nodiscard]] unsigned extension() const { return (modrm >> 3U) & 7U; }
  [[nodiscard]] unsigned mod() const { return modrm >> 6U; }
  [[nodiscard]] bool names_register() const { return has_modrm && mod() == 3; }
  [[nodiscard]] bool names_memory() const { return has_modrm && mod() != 3; }
  [[nodiscard]] bool is_rip_relative() const { return names_memory() && (modrm & 0xC7U) == 5; }
  /// jcc, not loop and jrcxz.
  [[nodiscard]] bool is_conditional_jump() const {
    return (map == OpcodeMap::one_byte && (opcode & 0xF0U) == 0x70U) ||
           (map == OpcodeMap::two_byte && (opcode & 0xF0U) == 0x80U);
  }
};

/// Parses the first instruction of `bytes`; nothing if 64-bit mode has no such opcode or the bytes
/// end within it. Encodings that the opcode maps reserve for later CPUs follow their map's rule.
[[nodiscard]] std::optional<Encoding> read_encoding(std::span<const std::byte> bytes);

}  // namespace sp::arch::x86_64
