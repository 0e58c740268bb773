#include "commands/run_files/decoded_function.h"

#include <elf.h>

#include <cstddef>
#include <span>

#include "arch/aarch64/decoder.h"
#include "arch/x86_64/decoder.h"
#include "core/address.h"
#include "core/bytes.h"

namespace sp::run_files {
namespace {

template <typename Decode>
std::optional<DecodedFunction> decode_with(const Decode& decode, std::span<const std::byte> code,
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
      return decode_with(arch::x86_64::decode, code, bounds);
    case EM_AARCH64:
      return decode_with(arch::aarch64::decode, code, bounds);
    default:
      return std::nullopt;
  }
}

}  // namespace sp::run_files
