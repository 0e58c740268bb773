#include "rewriter/padding.h"

#include "rewriter/cpu.h"

namespace sp::rewriter {

core::AddressRange find_padding(std::span<const std::byte> code, core::Address at) {
  core::AddressRange padding{at, at};
  while (!code.empty()) {
    const std::size_t length = cpu::padding_length(code);
    if (length == 0) {
      break;
    }
    code = code.subspan(length);
    padding.end = padding.end + length;
  }
  return padding;
}

}  // namespace sp::rewriter
