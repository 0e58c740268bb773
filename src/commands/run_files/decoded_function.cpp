#include "commands/run_files/decoded_function.h"

#include <elf.h>

#include <cstddef>
#include <span>

#include "arch/aarch64/decoder.h"
#include "arch/aarch64/sleds.h"
#include "arch/left_code.h"
#include "arch/x86_64/decoder.h"
#include "arch/x86_64/sleds.h"
#include "core/address.h"
#include "core/bytes.h"

namespace sp::run_files {
namespace {

template <typename Decode, typename HookCall>
std::optional<DecodedFunction> decode_with(const Decode& decode, const HookCall& hook_call,
                                           std::span<const std::byte> code,
                                           core::AddressRange bounds) {
  DecodedFunction function;
  for (core::Address at = bounds.begin; !code.empty();) {
    const auto instruction = decode(code, at);
    if (!instruction || instruction->length > code.size()) {
      return std::nullopt;
    }
    const bool is_jump =
        instruction->flow == core::Flow::jump || instruction->flow == core::Flow::branch;
    if (is_jump && instruction->target && !bounds.contains(*instruction->target)) {
      function.jumps_out.push_back(instruction->target->value());
    } else if (instruction->flow == core::Flow::call && instruction->target) {
      function.calls.push_back(instruction->target->value());
    } else if (instruction->flow == core::Flow::indirect_call) {
      const arch::HookCall call = hook_call(code, at);
      if (call.kind == arch::HookCall::Kind::through_memory) {
        function.call_slots.push_back(call.where.value());
      }
    }
    code = code.subspan(instruction->length);
    at = instruction->next();
    ++function.instructions;
  }
  return function;
}

}  // namespace

std::optional<DecodedFunction> decode_function(const core::ElfImage& image, std::uint64_t begin,
                                               std::uint64_t end) {
  const auto code = core::cut(image.bytes_at(begin), 0, end - begin);
  if (begin >= end || code.size() != end - begin) {
    return std::nullopt;
  }
  const core::AddressRange bounds{core::Address{begin}, core::Address{end}};
  switch (image.machine()) {
    case EM_X86_64:
      return decode_with(arch::x86_64::decode, arch::x86_64::hook_call, code, bounds);
    case EM_AARCH64:
      return decode_with(arch::aarch64::decode, arch::aarch64::hook_call, code, bounds);
    default:
      return std::nullopt;
  }
}

}  // namespace sp::run_files
