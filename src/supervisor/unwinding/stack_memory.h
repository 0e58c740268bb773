#pragma once

#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/stack.h"

namespace sp::supervisor {

/// The copy of a stack that a sample brought along. It must outlive this.
class StackMemory {
 public:
  explicit StackMemory(const core::RawStack& raw) : raw_(raw) {}

  /// The 64-bit word at an address; nothing if the copy does not hold it.
  [[nodiscard]] std::optional<std::uint64_t> word(core::Address address) const;
  [[nodiscard]] core::AddressRange range() const {
    return {raw_.bottom, raw_.bottom + raw_.bytes.size()};
  }

 private:
  const core::RawStack& raw_;
};

}  // namespace sp::supervisor
