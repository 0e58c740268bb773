#include "supervisor/unwinding/stack_memory.h"

#include <cstring>

namespace sp::supervisor {

std::optional<std::uint64_t> StackMemory::word(core::Address address) const {
  const std::uint64_t at = address.value() - raw_.bottom.value();
  if (address < raw_.bottom || at >= raw_.bytes.size() ||
      raw_.bytes.size() - at < sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, raw_.bytes.data() + at, sizeof(value));
  return value;
}

}  // namespace sp::supervisor
