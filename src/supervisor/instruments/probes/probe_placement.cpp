#include "supervisor/instruments/probes/probe_placement.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/native.h"
#include "core/instruction.h"
#include "supervisor/breakpoints/breakpoint_table.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

/// Memory in which every access succeeds.
class AnyMemory final : public arch::MemoryAccess {
 public:
  [[nodiscard]] bool read(Address /*from*/, std::span<std::byte> to) override {
    std::fill(to.begin(), to.end(), std::byte{});
    return true;
  }
  [[nodiscard]] bool write(Address /*to*/, std::span<const std::byte> /*from*/) override {
    return true;
  }
};

bool is_relocatable(Address address, std::span<const std::byte> code) {
  constexpr std::uint64_t kNearbyDistance = 1U << 20U;
  return Native::relocate(code, address, address + kNearbyDistance).has_value();
}

bool is_emulated(Address address, std::span<const std::byte> code) {
  Native::Registers registers{};
  Native::set_pc(registers, address);
  AnyMemory memory;
  return Native::emulate(registers, code, memory) == arch::Emulated::done;
}

}  // namespace

Address choose_probe(const core::BasicBlock& block, const CodeAnalysis::Read& read,
                     const IsInSequence& is_in_sequence) {
  Address last_emulated;
  Address last_relocatable;
  Address at = block.start;
  for (const std::uint8_t length : block.lengths) {
    std::array<std::byte, kLongestCode> code{};
    const std::size_t size = read(at, code);
    const auto instruction = Native::decode(std::span(code).first(size), at);
    const bool continues = instruction && instruction->flow == core::Flow::next;
    const bool transfers =
        instruction && core::ends_block(instruction->flow) && instruction->flow != core::Flow::stop;
    if (!is_in_sequence(at)) {
      if ((continues || transfers) && is_emulated(at, code)) {
        last_emulated = at;
      } else if (continues && is_relocatable(at, std::span(code).first(size))) {
        last_relocatable = at;
      }
    }
    at = at + length;
  }
  return last_emulated == Address{} ? last_relocatable : last_emulated;
}

}  // namespace sp::supervisor
