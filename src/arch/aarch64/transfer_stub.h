#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "arch/aarch64/registers.h"
#include "arch/aarch64/trap_handler.h"
#include "core/address.h"

namespace sp::arch::aarch64 {

/// The rest of a transfer cannot be made on this CPU: at a stop the call's result has overwritten
/// its first argument, the descriptor.
struct TransferStub {
  using Call = TrapHandler::Call;

  static constexpr bool kIsAvailable = false;
  static constexpr std::array<unsigned char, 4> kCode{};

  struct Slot {
    std::uint64_t minus_first_length = 1;
    std::uint64_t owner = 0;
    Call second;
  };
  struct Returning {
    Call call;
    std::uint64_t count = 0;
  };
  static std::optional<Returning> returning(const Registers& /*registers*/) { return std::nullopt; }
  static Slot slot(const Registers& /*returning*/, std::uint64_t /*owner*/) { return {}; }
  static Registers returning(const Registers& at, const Slot& /*slot*/) { return at; }
  static Registers begin(const Registers& returning, core::Address /*code*/, core::Address /*slot*/,
                         const Call& /*first*/) {
    return returning;
  }
  static void set_result(Registers& /*returning*/, std::uint64_t /*sum*/) {}
  static std::uint64_t sum(const Registers& /*registers*/, std::uint64_t /*offset*/) { return 0; }
};

}  // namespace sp::arch::aarch64
