#include "arch/aarch64/sled_event.h"

#include <array>
#include <cstdint>

#include "arch/aarch64/encoding.h"
#include "core/bytes.h"

namespace sp::arch::aarch64 {
namespace {

constexpr unsigned kRegisterField = 0x1F;

}  // namespace

std::optional<SledEvent> sled_event(std::span<const std::byte> before, core::SledKind kind,
                                    const Registers& registers) {
  std::array<unsigned, 3> sources = {0, 1, 2};
  for (std::size_t at = kWord; at + kWord <= before.size(); at += kWord) {
    const std::uint32_t word = core::read_at<std::uint32_t>(before, at).value_or(0);
    const unsigned to = word & kRegisterField;
    const unsigned from = word >> 16U & kRegisterField;
    const bool is_pair = matches(word, 0xFFC0'0000, 0xA980'0000);   // stp, with write-back
    const bool is_store = matches(word, 0xFFC0'0000, 0xF900'0000);  // str
    if (matches(word, 0xFFE0'FFE0, 0xAA00'03E0) && to < sources.size()) {
      sources.at(to) = from;  // mov
    } else if (!is_pair && !is_store && word != 0xD503'201F) {
      return std::nullopt;
    }
  }
  const auto value = [&](unsigned argument) {
    return sources.at(argument) < registers.x.size() ? registers.x.at(sources.at(argument)) : 0;
  };
  if (kind == core::SledKind::custom_event) {
    return SledEvent{0, core::Address{value(0)}, value(1)};
  }
  return SledEvent{value(0), core::Address{value(1)}, value(2)};
}

}  // namespace sp::arch::aarch64
