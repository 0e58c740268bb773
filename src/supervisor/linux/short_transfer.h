#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/native.h"
#include "core/address.h"

namespace sp::supervisor {

/// A system call that has transferred less than it was asked to. It may be short only because a
/// stop woke the thread.
struct ShortTransfer {
  using Call = arch::NativeTransferStub::Call;

  Call call;
  std::uint64_t done = 0;
};

/// What makes the rest of one. The second call is made if the first one transfers first_length.
struct RestOfTransfer {
  ShortTransfer::Call first;
  std::uint64_t first_length = 0;
  std::optional<ShortTransfer::Call> second;
  std::vector<std::byte> scratch;  // what the calls need in memory
};

/// The rest of that call may need as much scratch memory; nothing if the call is none whose rest
/// is made. Reads are not, but with MSG_WAITALL: a short read is an answer.
[[nodiscard]] std::optional<std::size_t> scratch_of(const ShortTransfer::Call& call);

/// The rest of the thread's transfer, if it is short and would have waited until it was done.
/// `scratch`: where its scratch memory will be. `may_change_call`: the program may make any system
/// call. The thread is stopped.
[[nodiscard]] std::optional<RestOfTransfer> rest_of(pid_t tid, const ShortTransfer& transfer,
                                                    core::Address scratch, bool may_change_call);

}  // namespace sp::supervisor
