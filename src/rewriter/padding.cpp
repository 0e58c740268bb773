#include "rewriter/padding.h"

#include "arch/x86_64/move.h"

namespace sp::rewriter {

core::AddressRange find_padding(std::span<const std::byte> code, core::Address at) {
  core::AddressRange padding{at, at};
  while (!code.empty()) {
    const auto encoding = arch::x86_64::read_encoding(code);
    if (!encoding || !arch::x86_64::is_padding(*encoding)) {
      break;
    }
    code = code.subspan(encoding->length);
    padding.end = padding.end + encoding->length;
  }
  return padding;
}

}  // namespace sp::rewriter
