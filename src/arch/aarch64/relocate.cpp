#include "arch/aarch64/relocate.h"

#include <cstdint>

#include "arch/aarch64/decoder.h"
#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;
using core::Flow;
using Code = std::optional<std::vector<std::byte>>;

/// Emits code for a known address. A branch that does not reach its target invalidates all of it.
class Assembler {
 public:
  explicit Assembler(Address start) : start_(start) {}

  void word(std::uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) {
      code_.push_back(static_cast<std::byte>((value >> (8U * i)) & 0xFFU));
    }
  }

  void jump(Address target) {
    const std::uint64_t offset = target.value() - here().value();
    constexpr std::uint64_t kReach = 1ULL << 27U;
    reaches_ = reaches_ && offset + kReach < 2 * kReach;
    word(0x14000000U | (static_cast<std::uint32_t>(offset >> 2U) & 0x03FFFFFFU));  // b
  }

  /// movz, and a movk for each further nonzero 16 bits.
  void move(unsigned destination, std::uint64_t value) {
    word(0xD2800000U | piece(value, 0) | destination);
    for (unsigned i = 1; i < 4; ++i) {
      if (((value >> (16U * i)) & 0xFFFFU) != 0) {
        word(0xF2800000U | (i << 21U) | piece(value, i) | destination);
      }
    }
  }

  [[nodiscard]] Address here() const { return start_ + code_.size(); }
  [[nodiscard]] Code take() { return reaches_ ? Code(std::move(code_)) : std::nullopt; }

 private:
  static std::uint32_t piece(std::uint64_t value, unsigned i) {
    return static_cast<std::uint32_t>((value >> (16U * i)) & 0xFFFFU) << 5U;
  }

  Address start_;
  std::vector<std::byte> code_;
  bool reaches_ = true;
};

/// The branch skips a jump to the next instruction and reaches one to the target.
void relocate_branch(std::uint32_t word, const core::Instruction& instruction, Assembler& out) {
  constexpr std::uint32_t kTwoWords = 2U << 5U;  // as an offset
  const std::uint32_t offset_field = is_tbz(word) ? 0x0007FFE0U : 0x00FFFFE0U;
  out.word((word & ~offset_field) | kTwoWords);
  out.jump(instruction.next());
  out.jump(*instruction.target);
}

/// False if the target is in the register that receives the return address.
bool relocate_indirect_call(std::uint32_t word, const core::Instruction& instruction,
                            Assembler& out) {
  const bool signs_with_register = authenticates(word) && field(word, 24, 1) == 1;
  const bool uses_link = field(word, 5, 5) == kLinkRegister ||
                         (signs_with_register && field(word, 0, 5) == kLinkRegister);
  if (uses_link) {
    return false;
  }
  constexpr std::uint32_t kLinks = 1U << 21U;  // blr and br, blraa and braa differ by it
  out.move(kLinkRegister, instruction.next().value());
  out.word(word & ~kLinks);
  return true;
}

/// ldr w, ldr x, ldrsw x of a literal; prfm. False for vector loads, which have no general register
/// to hold an address.
bool relocate_literal(std::uint32_t word, Address from, Assembler& out) {
  constexpr std::uint32_t kLoadFromBase[] = {0xB9400000U, 0xF9400000U, 0xB9800000U};
  const std::uint32_t operation = field(word, 30, 2);
  const unsigned destination = field(word, 0, 5);
  if (operation == 3) {
    return true;  // prfm: a hint, omitted
  }
  if (destination == kZeroRegister) {
    return false;
  }
  out.move(destination, from.value() + offset_19(word));
  out.word(kLoadFromBase[operation] | (destination << 5U) | destination);
  return true;
}

bool is_vector_literal(std::uint32_t word) { return matches(word, 0x3F000000U, 0x1C000000U); }
bool is_literal(std::uint32_t word) { return matches(word, 0x3F000000U, 0x18000000U); }

/// ldxr, stxr and related ones: losing the monitor in between would make their loop endless.
/// (casp shares their bits and is refused too.)
bool is_exclusive_or_casp(std::uint32_t word) { return matches(word, 0x3F800000U, 0x08000000U); }

bool relocate_plain(std::uint32_t word, Address from, Assembler& out) {
  if (is_vector_literal(word) || is_exclusive_or_casp(word)) {
    return false;
  }
  if (is_literal(word)) {
    return relocate_literal(word, from, out);
  }
  if (!is_adr(word)) {
    out.word(word);
  } else if (field(word, 0, 5) != kZeroRegister) {
    out.move(field(word, 0, 5), adr_value(word, from.value()));
  }
  return true;
}

}  // namespace

Code relocate(std::span<const std::byte> code, Address from, Address to) {
  const auto word = read_word(code);
  const auto instruction = decode(code, from);
  if (!word || !instruction) {
    return std::nullopt;
  }
  Assembler out(to);
  switch (instruction->flow) {
    case Flow::jump:
      out.jump(*instruction->target);
      return out.take();
    case Flow::branch:
      relocate_branch(*word, *instruction, out);
      return out.take();
    case Flow::call:
      out.move(kLinkRegister, instruction->next().value());
      out.jump(*instruction->target);
      return out.take();
    case Flow::indirect_call:
      return relocate_indirect_call(*word, *instruction, out) ? out.take() : std::nullopt;
    case Flow::indirect_jump:
    case Flow::ret:
      out.word(*word);
      return out.take();
    case Flow::next:
      if (!relocate_plain(*word, from, out)) {
        return std::nullopt;
      }
      out.jump(instruction->next());
      return out.take();
    case Flow::syscall:
    case Flow::stop:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sp::arch::aarch64
