#include "supervisor/unwinding/canonical_cfi.h"

#include <array>
#include <span>

#include "supervisor/unwinding/dwarf_reader.h"

namespace sp::supervisor {
namespace {

class Writer {
 public:
  void put(std::uint8_t value) { out_.push_back(std::byte{value}); }
  template <typename T>
  void put_word(T value) {
    std::array<std::byte, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    put_bytes(bytes);
  }
  void put_bytes(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  void put_uleb(std::uint64_t value) {
    while (value >= 0x80) {
      put(static_cast<std::uint8_t>(value | 0x80U));
      value >>= 7U;
    }
    put(static_cast<std::uint8_t>(value));
  }
  void put_sleb(std::int64_t value) {
    while (value < -64 || value > 63) {
      put(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) | 0x80U));
      value >>= 7;
    }
    put(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) & 0x7fU));
  }
  void set_length(std::size_t at) {
    const auto length = static_cast<std::uint32_t>(out_.size() - at - 4);
    std::memcpy(out_.data() + at, &length, sizeof(length));
  }
  void pad() {
    while (out_.size() % 8 != 0) {
      put(0);  // DW_CFA_nop
    }
  }
  [[nodiscard]] std::size_t size() const { return out_.size(); }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  std::vector<std::byte> out_;
};

// DW_CFA_* (DWARF 5, section 7.24; the last three are vendors' extensions).
enum Instruction : std::uint8_t {
  kNop = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineCfa = 0x0c,
  kDefineCfaRegister = 0x0d,
  kDefineCfaOffset = 0x0e,
  kDefineCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineCfaSigned = 0x12,
  kDefineCfaOffsetSigned = 0x13,
  kValueExpression = 0x16,
  kSigningMark = 0x2d,
  kArgumentsSize = 0x2e,
  kNegativeOffsetExtended = 0x2f,
};

/// Skips one instruction's operands. False if libunwind cannot evaluate the instruction.
bool skip_operands(std::uint8_t instruction, DwarfReader& program) {
  const std::uint8_t primary = instruction & 0xc0U;
  if (primary == 0x80) {  // DW_CFA_offset
    program.take_uleb();
    return true;
  }
  if (primary != 0) {  // DW_CFA_advance_loc, DW_CFA_restore
    return true;
  }
  switch (static_cast<Instruction>(instruction)) {
    case kNop:
    case kRememberState:
    case kRestoreState:
    case kSigningMark:
      return true;
    case kAdvance1:
      program.skip(1);
      return true;
    case kAdvance2:
      program.skip(2);
      return true;
    case kAdvance4:
      program.skip(4);
      return true;
    case kRestoreExtended:
    case kUndefined:
    case kSameValue:
    case kDefineCfaRegister:
    case kDefineCfaOffset:
    case kDefineCfaOffsetSigned:
    case kArgumentsSize:
      program.take_uleb();
      return true;
    case kOffsetExtended:
    case kRegister:
    case kDefineCfa:
    case kOffsetExtendedSigned:
    case kDefineCfaSigned:
    case kNegativeOffsetExtended:
      program.take_uleb();
      program.take_uleb();
      return true;
    case kDefineCfaExpression:
      program.skip(program.take_uleb());
      return true;
    case kExpression:
    case kValueExpression:
      program.take_uleb();
      program.skip(program.take_uleb());
      return true;
    case kSetLocation:
      break;
  }
  return false;
}

struct ProgramRules {
  std::uint64_t shift = 0;
  bool drop_signing_marks = false;
  std::uint8_t pointer_encoding = 0;
};

bool copy_program(DwarfReader program, const ProgramRules& rules, Writer& out) {
  while (!program.at_end()) {
    const auto from = program.rest();
    const std::size_t start = program.position();
    const auto instruction = program.take<std::uint8_t>();
    if (instruction == kSetLocation) {
      const auto location = program.take_pointer(rules.pointer_encoding, 0);
      if (!location) {
        return false;
      }
      out.put(kSetLocation);
      out.put_word(*location + rules.shift);
      continue;
    }
    if (!skip_operands(instruction, program) || !program.ok()) {
      return false;
    }
    if (instruction == kSigningMark) {
      if (!rules.drop_signing_marks) {
        return false;
      }
      out.put(kNop);
      continue;
    }
    out.put_bytes(from.first(program.position() - start));
  }
  return true;
}

}  // namespace

std::optional<CanonicalCfi> make_canonical_cfi(const Fde& fde, std::uint64_t shift,
                                               bool drop_signing_marks) {
  const ProgramRules rules{shift, drop_signing_marks, fde.pointer_encoding};
  if (fde.return_address_register > 0xff) {
    return std::nullopt;
  }
  Writer out;
  out.put_word(std::uint32_t{0});  // the length, set below
  out.put_word(std::uint32_t{0});  // marks a CIE
  out.put(1);                      // version
  out.put('z');
  out.put('R');
  if (fde.signal_frame) {
    out.put('S');
  }
  out.put(0);
  out.put_uleb(fde.code_alignment);
  out.put_sleb(fde.data_alignment);
  out.put(static_cast<std::uint8_t>(fde.return_address_register));
  out.put_uleb(1);
  out.put(kPointerAbsolute);
  if (!copy_program(DwarfReader(fde.cie_program, 0), rules, out)) {
    return std::nullopt;
  }
  out.pad();
  out.set_length(0);

  CanonicalCfi cfi;
  cfi.fde_offset = out.size();
  out.put_word(std::uint32_t{0});
  out.put_word(static_cast<std::uint32_t>(out.size()));  // how far back the CIE is from here
  out.put_word(fde.begin + shift);
  out.put_word(fde.end - fde.begin);
  out.put_uleb(0);
  if (!copy_program(DwarfReader(fde.program, fde.program_address), rules, out)) {
    return std::nullopt;
  }
  out.pad();
  out.set_length(cfi.fde_offset);
  cfi.bytes = out.take();
  return cfi;
}

}  // namespace sp::supervisor
