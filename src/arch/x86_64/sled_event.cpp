#include "arch/x86_64/sled_event.h"

#include <array>
#include <cstdint>

#include "arch/x86_64/operands.h"
#include "arch/x86_64/sleds.h"

namespace sp::arch::x86_64 {
namespace {

constexpr std::size_t kRegisters = 16;
constexpr unsigned kFirstArgument = 7;   // rdi
constexpr unsigned kSecondArgument = 6;  // rsi
constexpr unsigned kThirdArgument = 2;   // rdx

/// Which register of those at the sled's begin each one is to have at its call.
using Sources = std::array<unsigned, kRegisters>;

/// push of a register: its length. Nothing for other instructions.
std::optional<std::size_t> push_length(std::span<const std::byte> code) {
  const std::size_t prefix = code[0] == std::byte{0x41} ? 1 : 0;
  const bool is_push = prefix < code.size() && (code[prefix] & std::byte{0xF8}) == std::byte{0x50};
  return is_push ? std::optional(prefix + 1) : std::nullopt;
}

/// mov between 64-bit registers.
bool take_move(std::span<const std::byte> code, Sources& sources) {
  constexpr std::size_t kLength = 3;
  if (code.size() < kLength) {
    return false;
  }
  const auto rex = std::to_integer<unsigned>(code[0]);
  const auto opcode = std::to_integer<unsigned>(code[1]);
  const auto operands = std::to_integer<unsigned>(code[2]);
  if ((rex & 0xFAU) != 0x48U || (opcode != 0x89 && opcode != 0x8B) || operands < 0xC0U) {
    return false;
  }
  const unsigned reg = (operands >> 3U & 7U) | (rex & 4U) << 1U;
  const unsigned rm = (operands & 7U) | (rex & 1U) << 3U;
  sources.at(opcode == 0x89 ? rm : reg) = opcode == 0x89 ? reg : rm;
  return true;
}

}  // namespace

std::optional<SledEvent> sled_event(std::span<const std::byte> before, core::SledKind kind,
                                    const Registers& registers) {
  constexpr std::size_t kJump = 2;
  constexpr std::size_t kMove = 3;
  Sources sources{};
  for (unsigned i = 0; i < kRegisters; ++i) {
    sources.at(i) = i;
  }
  for (std::size_t at = kJump; at < before.size();) {
    const auto code = before.subspan(at);
    if (const std::size_t nops = nop_bytes(code); nops > 0) {
      at += nops;
    } else if (const auto push = push_length(code)) {
      at += *push;
    } else if (take_move(code, sources)) {
      at += kMove;
    } else {
      return std::nullopt;
    }
  }
  Registers copy = registers;
  const auto value = [&](unsigned argument) {
    return general_register(copy, sources.at(argument));
  };
  if (kind == core::SledKind::custom_event) {
    return SledEvent{0, core::Address{value(kFirstArgument)}, value(kSecondArgument)};
  }
  return SledEvent{value(kFirstArgument), core::Address{value(kSecondArgument)},
                   value(kThirdArgument)};
}

}  // namespace sp::arch::x86_64
