#include "supervisor/linux/process_vm.h"

#include <sys/uio.h>

#include "arch/native.h"

namespace sp::supervisor {

std::size_t copy_memory(pid_t tid, core::Address from, std::span<std::byte> into) {
  iovec local{into.data(), into.size()};
  iovec remote{reinterpret_cast<void*>(from.value()), into.size()};
  const ssize_t copied = ::process_vm_readv(tid, &local, 1, &remote, 1, 0);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

void copy_stack(pid_t tid, core::RawStack& raw) {
  raw.bottom = raw.registers.sp - arch::Native::kRedZone;
  std::size_t copied = copy_memory(tid, raw.bottom, raw.bytes);
  if (copied == 0) {
    raw.bottom = raw.registers.sp;
    copied = copy_memory(tid, raw.bottom, raw.bytes);
  }
  raw.bytes.resize(copied);
}

core::RawStack copy_whole_stack(pid_t tid, core::RawStack raw, std::size_t deepest,
                                const std::function<bool()>& goes_on) {
  constexpr std::size_t kFirst = std::size_t{16} << 10U;  // the whole is little for most threads
  for (std::size_t size = kFirst; size <= deepest; size *= 4) {
    raw.bytes.resize(size);
    copy_stack(tid, raw);
    if (raw.bytes.size() < size || !goes_on()) {
      break;
    }
  }
  return raw;
}

core::RawStack copy_sleeping_stack(pid_t tid, const BlockedCall& call, std::size_t bytes) {
  core::RawStack raw;
  raw.registers = arch::Native::to_dwarf({});
  raw.registers.pc = core::Address{call.pc};
  raw.registers.sp = core::Address{call.sp};
  raw.registers.complete = false;
  raw.bytes.resize(bytes);
  copy_stack(tid, raw);
  return raw;
}

}  // namespace sp::supervisor
