#include <algorithm>
#include <array>
#include <cstddef>

#include "core/bytes.h"
#include "symbols/plt_names.h"

namespace sp::symbols {
namespace {

/// Sign-extended 32-bit displacement at `at`.
std::uint64_t displacement(std::span<const std::byte> code, std::uint64_t at) {
  const std::int64_t value = core::read_at<std::int32_t>(code, at).value_or(0);
  return static_cast<std::uint64_t>(value);
}

bool has_bytes(std::span<const std::byte> code, std::uint64_t at,
               std::initializer_list<unsigned> wanted) {
  if (at > code.size() || code.size() - at < wanted.size()) {
    return false;
  }
  return std::equal(wanted.begin(), wanted.end(), code.begin() + static_cast<std::ptrdiff_t>(at),
                    [](unsigned a, std::byte b) { return a == std::to_integer<unsigned>(b); });
}

/// The slot of a stub that begins at `at`: [endbr64] [bnd] jmp *disp32(%rip).
std::optional<std::uint64_t> x86_64_slot(std::span<const std::byte> code, std::uint64_t at,
                                         std::uint64_t address) {
  if (has_bytes(code, at, {0xF3, 0x0F, 0x1E, 0xFA})) {  // endbr64
    at += 4;
  }
  if (has_bytes(code, at, {0xF2})) {  // bnd
    at += 1;
  }
  if (!has_bytes(code, at, {0xFF, 0x25}) || code.size() - at < 6) {  // jmp *disp32(%rip)
    return std::nullopt;
  }
  return address + at + 6 + displacement(code, at + 2);
}

}  // namespace

std::vector<PltStub> find_x86_64_stubs(std::span<const std::byte> code, std::uint64_t address) {
  // Stubs are 8 bytes (.plt.got without endbr64) or 16 bytes apart.
  constexpr std::uint64_t kStep = 8;
  std::vector<PltStub> stubs;
  for (std::uint64_t at = 0; at < code.size(); at += kStep) {
    const auto slot = x86_64_slot(code, at, address);
    if (!slot) {
      continue;
    }
    if (!stubs.empty()) {
      stubs.back().range.end = std::min(stubs.back().range.end, address + at);
    }
    const std::uint64_t end = std::min<std::uint64_t>(at + 16, code.size());
    stubs.push_back({{address + at, address + end}, *slot});
  }
  return stubs;
}

std::vector<PltStub> find_aarch64_stubs(std::span<const std::byte> code, std::uint64_t address) {
  constexpr std::uint32_t kBtiC = 0xD503245FU;
  constexpr std::uint64_t kLongest = 24;  // bti c, adrp, ldr, add, autia1716, br
  std::vector<PltStub> stubs;
  for (std::uint64_t at = 0; at + 8 <= code.size(); at += 4) {
    const auto adrp = *core::read_at<std::uint32_t>(code, at);
    const auto load = *core::read_at<std::uint32_t>(code, at + 4);
    // adrp x16, PAGE(slot); ldr x17, [x16, #:lo12:slot]
    if ((adrp & 0x9F00001FU) != 0x90000010U || (load & 0xFFC003FFU) != 0xF9400211U) {
      continue;
    }
    const std::uint32_t high = (adrp >> 5U) & 0x7FFFFU;
    const std::uint32_t low = (adrp >> 29U) & 3U;
    const auto pages = static_cast<std::int32_t>((high << 2U | low) << 11U) >> 11;  // 21 bits
    const std::uint64_t page =
        ((address + at) & ~std::uint64_t{0xFFF}) +
        (static_cast<std::uint64_t>(static_cast<std::int64_t>(pages)) << 12U);
    const std::uint64_t slot = page + ((load >> 10U) & 0xFFFU) * 8;
    const bool marked = at >= 4 && *core::read_at<std::uint32_t>(code, at - 4) == kBtiC;
    const std::uint64_t begin = marked ? at - 4 : at;
    if (!stubs.empty()) {
      stubs.back().range.end = std::min(stubs.back().range.end, address + begin);
    }
    const std::uint64_t end = std::min<std::uint64_t>(begin + kLongest, code.size());
    stubs.push_back({{address + begin, address + end}, slot});
  }
  return stubs;
}

}  // namespace sp::symbols
