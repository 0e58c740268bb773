#pragma once

#include <cstdint>

#include "core/fd.h"

namespace sp::supervisor {

/// What superprofiler tells its guardian over the socket between them.
struct GuardianMessage {
  enum class Kind {
    goodbye,            // all is restored: end
    register_memory,    // of an address space; comes with the descriptor
    unregister_memory,  // the address space is gone
    register_handler,   // the injected SIGTRAP handler of an address space is at `address`
    register_terminal,  // that a view is about to change; comes with the descriptor
  };
  Kind kind = Kind::goodbye;
  std::uint32_t space = 0;
  std::uint64_t address = 0;
};

/// Sends a message, with a descriptor unless that is -1. False if nobody listens.
[[nodiscard]] bool send_message(int socket, GuardianMessage message, int descriptor);

/// Waits for the next message. After the descriptor `death` has become readable (superprofiler's
/// ptrace thread is dead) it does not wait any more but takes what was sent before. False if there
/// is no further message.
[[nodiscard]] bool receive_message(int socket, int death, GuardianMessage& message,
                                   core::UniqueFd& descriptor);

}  // namespace sp::supervisor
